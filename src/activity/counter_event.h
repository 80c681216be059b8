/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event of the processor by its name, as the options --counters.… have it:
 *
 *   none                    not counted
 *   auto                    the kernel's own event for that purpose, or its stand-in
 *   cycles, instructions …  the kernel's generic events, see generic[] in counter_event.c
 *   PMU/TERM=VALUE,…/       as perf(1) writes it: terms of the PMU's folder `format`, or
 *                           config=VALUE; one term without a value is of its folder `events`
 *   PMU:CONFIG              the PMU by name, "msr:0x0"
 *   TYPE:CONFIG             the PMU by the number of its type, "1:0x2"
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct counter_event {
	bool is_counted; /* false: "none" */
	uint32_t type;   /* of struct perf_event_attr */
	uint64_t config;
};

/* The use that "auto" finds an event for, in the order of the counters in bpf/kepler_work.h. */
enum counter_use {
	COUNTER_CYCLES,
	COUNTER_REF_CYCLES,
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_MISSES,
	COUNTER_USES
};

/* Checks the form of an event, without a search for PMUs. 0 or -EINVAL with @diag. */
int counter_event_check(const char *text, struct diag *diag);
/*
 * Finds the event @text below @sysfs. 0; -EINVAL if the text is not an event, -ENOENT if this
 * machine has no such PMU or event, -ERANGE if a value does not fit its term.
 */
int counter_event_find(const char *sysfs, const char *text, enum counter_use use,
		       struct counter_event *ret);
/*
 * The event that "auto" counts for @use if the processor's own PMU lacks one, as in virtual
 * machines without one: for cycles, APERF of the PMU "msr", and for those at a constant frequency,
 * MPERF. Both count while a CPU is not halted (Intel's manual, volume 3, chapter "Power and Thermal
 * Management"; AMD's has them, too). 0, or -ENOENT without such a PMU.
 */
int counter_event_stand_in(const char *sysfs, enum counter_use use, struct counter_event *ret);
/*
 * A term's value in the bits that a file of the folder `format` describes, like "config:0-7,32-35".
 * 0, -EBADMSG, -ENOENT for another word than config, or -ERANGE. Pure.
 */
int counter_event_place_bits(const char *format, uint64_t value, uint64_t *config);
