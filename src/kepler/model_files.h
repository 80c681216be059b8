/* SPDX-License-Identifier: Apache-2.0 */
/* Trained models from files (--model.file), for what no meter of this machine measures. */
#pragma once

#include "activity/activity.h"
#include "base/diag.h"
#include "host/host.h"
#include "kepler/config.h"
#include "meter/meter.h"
#include "meter/model_meter.h"

/* Where the models stand in, and what they can see; borrowed. */
struct model_surroundings {
	const struct meter_table *meters; /* NULL: there are none */
	const struct activity_reader *activity;
	const struct host_info *host;
};

/*
 * Reads and checks the files: of those that have the same component the one counts that is expected
 * to be least wrong here, and @chosen says why ("": there was no choice). A file that cannot be
 * used is left out, and logged; @refused has the last reason, "" none. *ret
 * is given, NULL where no file can be used and no --model.url is given. 0 or -ENOMEM.
 */
int model_files_open(const struct config *config, const struct model_surroundings *around,
		     struct model_meter **ret, struct diag *chosen, struct diag *refused);
