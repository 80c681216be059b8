/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of sysfs that are read once per interval, in addition to the meters and processes. The
 * firmware may be slow, or a mount may hang, so a thread reads them while the meters are read,
 * and the loop waits for it for a moment at most. Values that come later count for the next
 * interval, and a thread that hangs costs only these signals.
 *
 * A machine without these files is checked once a minute. Everything here is called by
 * one thread, the loop's; nothing is read before machine_reads_begin() is called.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "activity/activity.h"
#include "base/health.h"
#include "host/cpu_frequency.h"
#include "host/cpu_idle.h"

#define MACHINE_READS_PATIENCE_NS 20000000ULL

struct machine_reads;

/* Reads below @sysfs. @start_thread: see offload.h. 0 or -errno. */
int machine_reads_open(const char *sysfs, void (*start_thread)(void), struct machine_reads **ret);
void machine_reads_close(struct machine_reads *reads);
/* Begins to read, unless the last time has not ended. */
void machine_reads_begin(struct machine_reads *reads, uint64_t now_ns);
/* Takes the values read, and waits once for MACHINE_READS_PATIENCE_NS at most. */
void machine_reads_take(struct machine_reads *reads);
/* The values of each CPU that were taken last; they stay valid, and change only there. */
const struct cpu_frequencies *machine_reads_frequencies(const struct machine_reads *reads);
/* Adds the memory traffic taken in this interval to a pass, if resctrl has groups. */
void machine_reads_add(struct machine_reads *reads, struct activity *activity);

/* The time of CPUs in an idle state. */
struct idle_state_time {
	char name[CPU_IDLE_NAME_MAX];
	double seconds;
};
struct machine_reads_health {
	struct idle_state_time states[CPU_IDLE_STATES_MAX];
	uint32_t state_count;
};
extern const struct health_part machine_reads_health_part; /* of a struct machine_reads */

/* State, for doctor. */
struct machine_reads_info {
	uint32_t mean_khz;       /* of CPUs; 0: not known */
	uint32_t traffic_groups; /* of resctrl, with tasks or the default one; 0: none */
	bool traffic_is_known;   /* as of the last time */
};
void machine_reads_get_info(const struct machine_reads *reads, struct machine_reads_info *ret);
