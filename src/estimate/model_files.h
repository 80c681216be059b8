/* SPDX-License-Identifier: Apache-2.0 */
/* Trained models from files (--model.file), for what no meter of this machine measures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "base/diag.h"
#include "config/config.h"
#include "estimate/model_estimate.h"
#include "host/host.h"
#include "meter/meter.h"

/* Of the model of --model.url; those of files have their index. */
#define MODEL_PLACE_URL CONFIG_MODELS_MAX

/* Where the models stand in, and what they can see; borrowed. */
struct model_surroundings {
	const struct meter_table *meters; /* NULL: there are none */
	const struct activity_reader *activity;
	bool has_frequency; /* the frequency of the machine's CPUs can be read */
	const struct host_info *host;
};

/* By which a changed file is known; all zero: there was none. */
struct model_stamp {
	uint64_t device, inode, size;
	int64_t mtime_ns;
	uint64_t hash; /* of its content */
};

/* All zero: there are none. */
struct model_files {
	char *paths[CONFIG_MODELS_MAX]; /* of its own */
	size_t count;
	struct model_stamp stamps[CONFIG_MODELS_MAX];
	bool is_spare[CONFIG_MODELS_MAX]; /* others were chosen, which is so until the end */
	bool is_bad[CONFIG_MODELS_MAX];   /* as it is on the disk it cannot be used */
	struct diag chosen;               /* why which one of several; "" no choice */
	struct diag refused;              /* the last reason why one cannot be used; "" none */
};

/*
 * Reads and checks the files: of those that have the same component the one counts that is expected
 * to be least wrong here. A file that cannot be used is left out, and logged. *ret is given, NULL
 * where there is neither --model.file nor --model.url. 0 or -ENOMEM.
 */
int model_files_open(const struct config *config, const struct model_surroundings *around,
		     struct zone_source **ret, struct model_files *files);
void model_files_release(struct model_files *files);
/*
 * Reads and checks @path, if it is no longer as @stamp says, which becomes what it is now. 1 with
 * *ret, given; 0: its content is the same; -errno with @diag why it cannot be used, and without a
 * text where that was so before.
 */
int model_files_read(const char *path, struct model_stamp *stamp, struct trained_model *ret,
		     struct diag *diag);
/* Where the model of file @index stands: its path is the file's name without folders. */
void model_files_place(const struct model_files *files, size_t index, struct model_place *ret);
