/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the processor, opened on each CPU for all that runs there, in a map that BPF programs
 * read. The map keeps an event open; no descriptor stays in this process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/counter_event.h"

struct counters;

/*
 * Finds the events @names, and tries each on one of @cpus; where that of "auto" is missing, its
 * stand-in is tried (counter_event_stand_in()). Those that do not open are left out, and @why says
 * which and why ("" for none). 0 or -ENOMEM.
 */
int counters_find(const char *sysfs, const char *const names[COUNTER_USES], const unsigned *cpus,
		  size_t cpu_count, struct counters **ret, char *why, size_t why_size);
void counters_free(struct counters *counters);
/* Bit i: event i is counted. */
uint32_t counters_mask(const struct counters *counters);
/*
 * The config with which @event is opened on @cpu: a generic event's config names the PMU of the
 * CPU's kind of core if the machine has several kinds.
 */
uint64_t counters_config(const struct counters *counters, const struct counter_event *event,
			 unsigned cpu);
/* Opens the events of @cpu, and enters them into @map_fd. The number of those that failed. */
unsigned counters_open_cpu(const struct counters *counters, int map_fd, unsigned cpu);
/* Closes them. */
void counters_close_cpu(const struct counters *counters, int map_fd, unsigned cpu);
