/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAPL through the kernel's performance events: the PMU "power" of sysfs, with one event for each
 * kind of energy (Linux: Documentation/ABI/testing/sysfs-bus-event_source-devices-events). Its
 * cpumask names one CPU of each package or die. Counts have 64 bits and do not wrap.
 */
#pragma once

#include "truth/truth_meters.h"

/* Opens the events that @sysfs has; those that the kernel refuses are left out. */
void truth_search_perf(const char *sysfs, struct truth *truth);
/*
 * The kinds of energy that @sysfs has an event of, even if it may not be opened. Their number; a
 * folder that does not answer is noted in @truth.
 */
#define PERF_KINDS 5
size_t truth_perf_kinds(const char *sysfs, struct truth *truth, const char *ret[PERF_KINDS]);
/* "event=0x02", a newline at its end: the event's number. False: it is something else. */
bool truth_perf_event_parse(const char *text, uint64_t *ret_config);
/* "2.3283064365386962890625e-10" and "Joules": the joules of one count. False: something else. */
bool truth_perf_scale_parse(const char *scale, const char *unit, double *ret_joules);
/* "0,28-29": up to @most CPUs of a list. The count; 0 for anything else. */
size_t truth_cpu_list_parse(const char *text, unsigned *ret_cpus, size_t most);
