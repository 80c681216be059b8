/* SPDX-License-Identifier: Apache-2.0 */
/* The table of scenarios: which loads each has, and in which order. */
#pragma once

#include <stdbool.h>

#include "trial/host_cpus.h"
#include "trial/load_kind.h"

#define SCENARIO_LOADS_MAX 10
#define SCENARIO_PARTS_MAX 12

struct scenario_load {
	const char *name;                  /* of its phase; NULL ends the list */
	const struct load_kind *load;      /* NULL: none; the phase is the whole scenario */
	double part;                       /* of the CPUs of its place */
	const struct load_kind *neighbour; /* of the same size, or NULL */
	enum cpu_place place;
	unsigned replicas;    /* of the load, which then has no part; 0: it has none */
	double max_frequency; /* the limit, as a part of the highest one; 0: as it is */
	bool follows;         /* the load before it, without a phase between in which none runs */
};

struct scenario {
	const char *name, *help;
	struct scenario_load loads[SCENARIO_LOADS_MAX];
	const char *parts[SCENARIO_PARTS_MAX]; /* other scenarios, which it runs in this order */
};

/* Ends with a row without a name. */
extern const struct scenario scenarios[];

/* NULL: there is none of this name. */
const struct scenario *scenario_find(const char *name);
