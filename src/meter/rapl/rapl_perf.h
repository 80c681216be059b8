/* SPDX-License-Identifier: Apache-2.0 */
/* The source rapl-perf: RAPL's counters as events of the kernel's power PMU. */
#pragma once

struct meter_ops;
extern const struct meter_ops rapl_perf_meter;

/* perf_event_open(2), on @cpu and for all processes: a descriptor, or -errno. @group_fd: the
 * group leader's, or -1. */
struct perf_event_attr;
typedef int rapl_perf_open_fn(const struct perf_event_attr *attr, int cpu, int group_fd);

struct rapl_perf_options {
	rapl_perf_open_fn *open_event; /* NULL: the kernel's; a test has its own */
};
