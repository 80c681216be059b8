/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which load runs when: the phases of a scenario. Pure.
 *
 * Every effect is bracketed: a phase with a load has one without before it and after it, so that a
 * drift of the machine is seen and bounds what can be claimed (judging/bracket.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_PHASES_MAX 16

enum scenario {
	SCENARIO_NODE,         /* no load of its own */
	SCENARIO_IDLE,         /* the same, and the machine should be idle */
	SCENARIO_LADDER,       /* 25, 50, 75 and 100 % of the CPUs, and down again */
	SCENARIO_SHORT_LIVED,  /* processes of 10 ms, one after another */
	SCENARIO_CHURN,        /* processes of 1 s */
	SCENARIO_ALONE_SHARED, /* half of the CPUs alone, then beside a neighbour */
	SCENARIO_QUICK,        /* a step to half of the CPUs, and short-lived processes */
	SCENARIO_FULL,         /* the ladder upwards, and all other loads */
};

enum load_kind {
	LOAD_NONE,
	LOAD_STEADY,      /* runs as long as the phase */
	LOAD_SHORT_LIVED, /* processes of 10 ms of CPU time */
	LOAD_CHURN,       /* processes of 1 s */
	LOAD_SHARED,      /* steady, with a neighbour that is as large */
};

struct plan_phase {
	char name[64];
	enum load_kind load;
	double cpus; /* how many CPUs the load wants, without its neighbour */
	double length_s;
};

struct plan {
	struct plan_phase phases[PLAN_PHASES_MAX];
	size_t count;
};

/* For a machine with @cpus CPUs, @duration_s long in all. */
void plan_make(enum scenario scenario, unsigned cpus, double duration_s, struct plan *ret);
double plan_length_s(const struct plan *plan);
/* Has the phase a load, and the ones before and after it have none? */
bool plan_is_bracket(const struct plan *plan, size_t index);
