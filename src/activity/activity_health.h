/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the reader of processes, as metrics. */
#pragma once

#include "activity/activity_reader.h"
#include "base/health.h"

struct activity_health {
	char reader[16];
	uint64_t drops, errors, threads_known, cgroups_missed;
	uint64_t tasks_walked, tasks_sent; /* of all passes */
	double bpf_seconds;                /* of all passes, inside the kernel program */
	uint64_t unseen_processes;
	double unseen_cpu_seconds, unseen_work_seconds;
	uint64_t bpf_programs_refused;
	uint64_t io_dropped, softirqs_without_cause;
	double softirq_seconds_without_cause;
	bool counts_switches;
	uint32_t counters; /* events of the processor that are counted */
	uint32_t uncounted_cpus;
	uint64_t threads_without_work;
	double work_lost_seconds;
	bool own_pid_namespace, sees_part, machine_time_is_up;
};
extern const struct health_part activity_health_part; /* of a struct activity_health */

/* After each pass. */
void activity_health_update(struct activity_health *health, const struct activity_info *info);
