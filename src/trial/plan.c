// SPDX-License-Identifier: Apache-2.0
/*
 * Phases without a load are as long as those with one: an uncertain mean before or after makes an
 * effect as uncertain.
 */
#include "trial/plan.h"

#include <stdio.h>

#include "base/macro.h"

struct row {
	const char *name; /* NULL ends a scenario */
	enum load_kind load;
	double part; /* of the machine's CPUs */
};

static const struct row scenarios[][PLAN_PHASES_MAX] = {
	[SCENARIO_NODE] = { { "node", LOAD_NONE, 0 } },
	[SCENARIO_IDLE] = { { "idle", LOAD_NONE, 0 } },
	[SCENARIO_LADDER] = { { "before", LOAD_NONE, 0 },
			      { "25 %", LOAD_STEADY, 0.25 },
			      { "50 %", LOAD_STEADY, 0.5 },
			      { "75 %", LOAD_STEADY, 0.75 },
			      { "100 %", LOAD_STEADY, 1 },
			      { "75 % again", LOAD_STEADY, 0.75 },
			      { "50 % again", LOAD_STEADY, 0.5 },
			      { "25 % again", LOAD_STEADY, 0.25 },
			      { "after", LOAD_NONE, 0 } },
	[SCENARIO_SHORT_LIVED] = { { "before", LOAD_NONE, 0 },
				   { "short-lived", LOAD_SHORT_LIVED, 0.5 },
				   { "after", LOAD_NONE, 0 } },
	[SCENARIO_CHURN] = { { "before", LOAD_NONE, 0 },
			     { "churn", LOAD_CHURN, 0.5 },
			     { "after", LOAD_NONE, 0 } },
	[SCENARIO_ALONE_SHARED] = { { "before", LOAD_NONE, 0 },
				    { "alone", LOAD_STEADY, 0.5 },
				    { "between", LOAD_NONE, 0 },
				    { "shared", LOAD_SHARED, 0.5 },
				    { "after", LOAD_NONE, 0 } },
	[SCENARIO_QUICK] = { { "before", LOAD_NONE, 0 },
			     { "half", LOAD_STEADY, 0.5 },
			     { "between", LOAD_NONE, 0 },
			     { "short-lived", LOAD_SHORT_LIVED, 0.5 },
			     { "after", LOAD_NONE, 0 } },
	[SCENARIO_FULL] = { { "before", LOAD_NONE, 0 },
			    { "25 %", LOAD_STEADY, 0.25 },
			    { "50 %", LOAD_STEADY, 0.5 },
			    { "75 %", LOAD_STEADY, 0.75 },
			    { "100 %", LOAD_STEADY, 1 },
			    { "before alone", LOAD_NONE, 0 },
			    { "alone", LOAD_STEADY, 0.5 },
			    { "before shared", LOAD_NONE, 0 },
			    { "shared", LOAD_SHARED, 0.5 },
			    { "before short-lived", LOAD_NONE, 0 },
			    { "short-lived", LOAD_SHORT_LIVED, 0.5 },
			    { "before churn", LOAD_NONE, 0 },
			    { "churn", LOAD_CHURN, 0.5 },
			    { "after", LOAD_NONE, 0 } },
};

void plan_make(enum scenario scenario, unsigned cpus, double duration_s, struct plan *ret)
{
	const struct row *rows = scenarios[scenario];

	*ret = (struct plan){ 0 };
	for (size_t i = 0; i < PLAN_PHASES_MAX && rows[i].name; i++) {
		struct plan_phase *phase = &ret->phases[ret->count++];

		(void)snprintf(phase->name, sizeof(phase->name), "%s", rows[i].name);
		phase->load = rows[i].load;
		phase->cpus = rows[i].part * cpus;
		/* Processes that follow each other need a whole CPU each. */
		if ((phase->load == LOAD_SHORT_LIVED || phase->load == LOAD_CHURN) &&
		    phase->cpus < 1)
			phase->cpus = 1;
	}
	for (size_t i = 0; i < ret->count; i++)
		ret->phases[i].length_s = duration_s / (double)ret->count;
}

double plan_length_s(const struct plan *plan)
{
	double sum = 0;

	for (size_t i = 0; i < plan->count; i++)
		sum += plan->phases[i].length_s;
	return sum;
}

bool plan_is_bracket(const struct plan *plan, size_t index)
{
	return index > 0 && index + 1 < plan->count && plan->phases[index].load != LOAD_NONE &&
	       plan->phases[index - 1].load == LOAD_NONE &&
	       plan->phases[index + 1].load == LOAD_NONE;
}
