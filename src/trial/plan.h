/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which load runs when: the phases of a scenario on this machine. Pure.
 *
 * Every effect is bracketed: a phase with a load has one without before it and after it, so that a
 * drift of the machine is seen and bounds what can be claimed (judging/bracket.h). Only the steps
 * of a ladder follow each other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trial/scenario.h"

#define PLAN_PHASES_MAX   64
#define PLAN_LEFT_OUT_MAX 8

struct plan_phase {
	char name[64];
	const struct load_kind *load;      /* NULL: none */
	const struct load_kind *neighbour; /* NULL: none */
	double cpus;             /* how many CPUs the load wants; its neighbour wants as many */
	unsigned processes;      /* short ones that it starts; 0: as many as there is time for */
	const cpu_set_t *pinned; /* each worker to one of them, in order; NULL: to none */
	unsigned replicas;       /* of the load; 0: it has none */
	double max_frequency;    /* the limit, as a part of the highest one; 0: as it is */
	double length_s;
};

/* A scenario that this machine cannot run. */
struct plan_left_out {
	const struct scenario *scenario;
	const char *reason; /* a sentence */
};

struct plan {
	bool limits_frequency;
	struct plan_phase phases[PLAN_PHASES_MAX];
	size_t count;
	struct plan_left_out left_out[PLAN_LEFT_OUT_MAX];
	size_t left_out_count;
};

/*
 * For the machine with the CPUs of @host, which the plan borrows, @duration_s long in all. Without
 * phases if the machine cannot run any of it.
 */
void plan_make(const struct scenario *scenario, const struct host_cpus *host, double duration_s,
	       struct plan *ret);
double plan_length_s(const struct plan *plan);
bool plan_has_load(const struct plan *plan);
/* Has the phase a load, and the ones before and after it have none? */
bool plan_is_bracket(const struct plan *plan, size_t index);
/*
 * The phase in which @load runs without a neighbour on as many CPUs as in phase @index, and is
 * bracketed; plan->count if there is none.
 */
size_t plan_find_alone(const struct plan *plan, size_t index, const struct load_kind *load);
