/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work: what was run in an interval, by the nanosecond of CPU time. The energy of a zone follows
 * the work of its domain: of the whole machine, or of one package, which has a place here, 0 and
 * up: what is counted by package is kept in arrays by place.
 */
#pragma once

#include <stdint.h>

#include "energy/zone.h"

#define PLACES_MAX 16
#define PLACE_NONE UINT32_MAX /* the whole machine's */

struct work_places {
	uint32_t count;               /* packages that are told apart; 0: none */
	uint32_t package[PLACES_MAX]; /* struct domain has the same number */
	uint32_t cpus[PLACES_MAX];    /* online, in each */
};

/* What was run in an interval beside what has a row: in ns, as a sum over all CPUs. */
struct work_sums {
	uint64_t busy_ns;    /* all of it; the idle task's is not in it */
	uint64_t dropped_ns; /* of it, what no process can be named for */
	uint64_t unseen_ns;  /* and what was not seen, but the machine counts */
};

/* The place that a zone of @domain is charged by, or PLACE_NONE. */
uint32_t work_place(const struct work_places *places, const struct domain *domain);
