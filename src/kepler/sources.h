/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that is read from: the machine's facts, its meters or their stand-in, its processes and
 * their owners. Opened in one place, so that `run` and `doctor` see the same machine.
 */
#pragma once

#include "activity/activity.h"
#include "base/diag.h"
#include "host/host.h"
#include "kepler/config.h"
#include "kepler/interval.h"
#include "meter/meter.h"
#include "workload/identity.h"

struct sources {
	struct host_info host;
	struct meter_table *meters; /* NULL: this machine has no meter, or --no-meter.enabled */
	struct estimated_meter *estimate; /* only where there is no meter */
	struct activity_reader *activity;
	struct identity_resolver *identities;
};

/* 0, or -errno with a diagnosis of what cannot be done without: /proc. */
int sources_open(const struct config *config, struct sources *ret, struct diag *diag);
void sources_close(struct sources *sources);
/* "measured by RAPL (rapl-sysfs): package-0, dram-0", "estimated (trained_power_model specpower-1, typical error 12 %)", … */
void sources_describe(const struct sources *sources, char *buf, size_t size);

/* Pure: applies --model.machine ("cores=8,year=2021,memory-gib=32,frequency-ghz=2.4,sockets=1,vm=false") to what was found. */
int host_override(const char *text, struct host_info *host, struct diag *diag);
