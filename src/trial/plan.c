// SPDX-License-Identifier: Apache-2.0
/*
 * Phases without a load are as long as those with one: an uncertain mean before or after makes an
 * effect as uncertain.
 */
#include "trial/plan.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Short processes use so much of a phase's CPU time: others run as well, and starts take some. */
#define USABLE 0.5

static struct plan_phase *add_phase(struct plan *plan)
{
	assert(plan->count < PLAN_PHASES_MAX);
	return &plan->phases[plan->count++];
}

/* A phase in which no load runs: "before half". */
static void add_pause(struct plan *plan, const char *when, const char *name, double max_frequency)
{
	struct plan_phase *phase = add_phase(plan);

	(void)snprintf(phase->name, sizeof(phase->name), "%s%s%.48s", when, name ? " " : "",
		       name ? name : "");
	phase->max_frequency = max_frequency;
}

/* Both phases without a load around one with a load have its frequency. */
static void add_pauses(struct plan *plan, const struct scenario_load *load)
{
	if (plan->count > 0) {
		/* gcc does not see that the new phase is another one. */
		const struct plan_phase last = plan->phases[plan->count - 1];

		if (last.load && fabs(last.max_frequency - load->max_frequency) > 0)
			add_pause(plan, "after", last.name, last.max_frequency);
	}
	add_pause(plan, "before", plan->count > 0 ? load->name : NULL, load->max_frequency);
}

static void add_load(struct plan *plan, const struct scenario_load *load,
		     const struct host_cpus *host)
{
	if (load->load && !load->follows)
		add_pauses(plan, load);
	struct plan_phase *phase = add_phase(plan);
	const cpu_set_t *place = &host->places[load->place];

	(void)snprintf(phase->name, sizeof(phase->name), "%s", load->name);
	phase->load = load->load;
	phase->neighbour = load->neighbour;
	phase->cpus = load->part * CPU_COUNT(place);
	phase->replicas = load->replicas;
	phase->max_frequency = load->max_frequency;
	plan->limits_frequency = plan->limits_frequency || load->max_frequency > 0;
	phase->pinned = load->place == PLACE_ANYWHERE ? NULL : place;
	/*
	 * Processes that follow each other need a whole CPU each, and so do the processes of a
	 * program.
	 */
	if (phase->load && (phase->load->process_s > 0 || phase->load->is_one_worker))
		phase->cpus = fmax(1, floor(phase->cpus));
}

/* Why the machine cannot run it; NULL: it can. */
static const char *find_obstacle(const struct scenario *scenario, const struct host_cpus *host)
{
	static const char *const obstacles[PLACES] = {
		[PLACE_ONE_CORE] = "This machine has no core with two CPUs that may be used here.",
		[PLACE_TWO_CORES] = "This machine has no second core that may be used here.",
		[PLACE_FIRST_SOCKET] = "This machine has no second socket that may be used here.",
		[PLACE_SECOND_SOCKET] = "This machine has no second socket that may be used here.",
	};

	for (const struct scenario_load *load = scenario->loads; load->name; load++)
		if (load->place != PLACE_ANYWHERE && CPU_COUNT(&host->places[load->place]) == 0)
			return obstacles[load->place];
		else if (load->max_frequency > 0 && host->frequency_obstacle)
			return host->frequency_obstacle;
		else if (load->load && load->load->program &&
			 !host->has_program(load->load->program))
			return load->load->without;
	return NULL;
}

static void add_scenario(struct plan *plan, const struct scenario *scenario,
			 const struct host_cpus *host)
{
	const char *obstacle = find_obstacle(scenario, host);

	if (obstacle) {
		assert(plan->left_out_count < PLAN_LEFT_OUT_MAX);
		plan->left_out[plan->left_out_count++] =
			(struct plan_left_out){ scenario, obstacle };
		return;
	}
	for (const struct scenario_load *load = scenario->loads; load->name; load++)
		add_load(plan, load, host);
}

void plan_make(const struct scenario *scenario, const struct host_cpus *host, double duration_s,
	       struct plan *ret)
{
	*ret = (struct plan){ 0 };
	add_scenario(ret, scenario, host);
	for (size_t i = 0; i < SCENARIO_PARTS_MAX && scenario->parts[i]; i++)
		add_scenario(ret, scenario_find(scenario->parts[i]), host);
	if (ret->count > 0 && ret->phases[ret->count - 1].load)
		add_pause(ret, "after", NULL, ret->phases[ret->count - 1].max_frequency);
	for (size_t i = 0; i < ret->count; i++) {
		struct plan_phase *phase = &ret->phases[i];

		phase->length_s = duration_s / (double)ret->count;
		if (phase->load && phase->load->processes > 0)
			phase->processes = (unsigned)fmin(
				phase->load->processes, ceil(USABLE * phase->length_s *
							     phase->cpus / phase->load->process_s));
	}
}

double plan_length_s(const struct plan *plan)
{
	double sum = 0;

	for (size_t i = 0; i < plan->count; i++)
		sum += plan->phases[i].length_s;
	return sum;
}

bool plan_has_load(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->phases[i].load)
			return true;
	return false;
}

bool plan_is_bracket(const struct plan *plan, size_t index)
{
	return index > 0 && index + 1 < plan->count && plan->phases[index].load &&
	       !plan->phases[index - 1].load && !plan->phases[index + 1].load;
}

size_t plan_find_alone(const struct plan *plan, size_t index, const struct load_kind *load)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (plan->phases[i].load == load && !plan->phases[i].neighbour &&
		    !plan->phases[i].pinned &&
		    fabs(plan->phases[i].cpus - plan->phases[index].cpus) < 1e-9 &&
		    plan_is_bracket(plan, i))
			break;
	return i;
}
