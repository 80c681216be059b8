// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/run_text.h"

#include <stdio.h>
#include <string.h>

#include "truth/meters/gpu_meter.h"

void run_text_scenarios(void)
{
	for (const struct scenario *scenario = scenarios; scenario->name; scenario++)
		printf("%-16s %s\n", scenario->name, scenario->help);
}

static void print_phase(const struct plan_phase *phase)
{
	printf("  %5.0f s  %s", phase->length_s, phase->name);
	if (!phase->load)
		printf(" (no load)");
	if (phase->processes > 0)
		printf(", %u processes", phase->processes);
	printf("\n");
}

void run_text_plan(const struct observation *observation)
{
	const struct plan *plan = &observation->plan;
	const struct truth *truth = &observation->truth;
	size_t gpus = 0;

	for (size_t i = 0; i < truth->meter_count; i++)
		gpus += strcmp(truth->meters[i].kind, TRUTH_GPU) == 0;
	printf("Plan, %.0f s:\n", plan_length_s(plan));
	for (size_t i = 0; i < plan->count; i++)
		print_phase(&plan->phases[i]);
	if (plan->count > 0)
		printf("  Phases are longer, together by up to %.0f s, where that decides a "
		       "result.\n",
		       observation->spare_s);
	for (size_t i = 0; i < plan->left_out_count; i++)
		printf("Left out: %s. %s\n", plan->left_out[i].scenario->name,
		       plan->left_out[i].reason);
	if (plan->limits_frequency)
		printf("Changes: scaling_max_freq of all CPUs, until the end of the run. A process "
		       "of its own restores it, also if this one is killed.\n");
	for (size_t i = 0; i < observation->exporter_count; i++)
		printf("%s: %s\n", observation->models[i].pid > 0 ? "Estimates" : "Exporter",
		       observation->exporters[i]->url);
	if (observation->vm.pid)
		printf("Virtual machine: pid %d, %s %s\n", observation->vm.pid,
		       observation->vm.uuid, observation->vm.name);
	else if (*observation->vm.uuid)
		printf("Virtual machine: %s %s, started for this run. It boots first.\n",
		       observation->vm.uuid, observation->vm.name);
	if (truth->zone_count == 0)
		printf("Truth: none; only what must always hold is judged.\n");
	else if (truth->source == TRUTH_NONE)
		printf("Truth: GPUs only.\n");
	else
		printf("Truth: %s, %zu meters, with an assumed error of ±%g %%.\n",
		       truth_source_name(truth->source), truth->meter_count - gpus,
		       100 * truth->error);
	if (truth->stalled[0] || truth->gpu_stalled[0])
		printf("  Meters may be missing: %s%s%s did not answer within 2 s.\n",
		       truth->stalled, truth->stalled[0] && truth->gpu_stalled[0] ? " and " : "",
		       truth->gpu_stalled);
	for (size_t i = 0; i < truth->zone_count; i++)
		printf("  %s: %s\n", truth->zones[i].kind, truth->zones[i].series->query);
	if (gpus > 0)
		printf("  GPUs have an assumed error of ±%g %%.\n", 100 * TRUTH_GPU_ERROR);
	(void)fflush(stdout);
}

void run_text_progress(const struct observation *observation, double left_s)
{
	size_t at = observation->phase_count - 1;

	(void)fprintf(stderr, "\r\033[K%s (%zu of %zu), %.0f s left",
		      observation->phases[at].phase.name, at + 1, observation->plan.count, left_s);
}

static void print_loads(const struct observation *observation)
{
	for (size_t i = 0; i < observation->phase_count; i++) {
		const struct load_result *load = &observation->phases[i].load;

		if (load->outcome[0])
			printf("Load in %s: the command %s, %.2f s of CPU time.\n",
			       observation->phases[i].phase.name, load->outcome, load->cpu_s);
		if (load->units == 0)
			continue;
		printf("Load in %s: %llu %s, %.2f s of CPU time", observation->phases[i].phase.name,
		       (unsigned long long)load->units, observation->plan.phases[i].load->unit,
		       load->cpu_s);
		if (load->other_cpu_s > 0)
			printf(", its neighbour %.2f s", load->other_cpu_s);
		if (load->processes > 0)
			printf(", %llu processes", (unsigned long long)load->processes);
		printf(".\n");
	}
}

void run_text_results(const struct observation *observation, const struct result_list *list)
{
	if (observation->truth.skipped > 0)
		printf("The truth could not be read %llu times: %s.\n",
		       (unsigned long long)observation->truth.skipped,
		       observation->truth.failure.text);
	print_loads(observation);
	for (size_t i = 0; i < list->count; i++) {
		const struct result *result = list->items[i];

		printf("%-14s %s", verdict_name(result->verdict), result->name);
		if (result->cause != CAUSE_NONE)
			printf(" (%s)", cause_name(result->cause));
		if (observation->exporter_count > 1 && result->exporter[0])
			printf(" of %s", result->exporter);
		printf(": %s\n", result->reason);
		/* A guest that has the host's changes may still assume a floor. */
		if (strncmp(result->name, "guest/", 6) == 0 && result->has_errors)
			printf("               scale %.4g, offset %+.4g W\n", result->errors.scale,
			       result->errors.offset);
	}
	printf("Verdict: %s. %zu pass, %zu fail, %zu inconclusive, %zu not applicable.\n",
	       verdict_name(result_list_verdict(list)), result_list_count(list, VERDICT_PASS),
	       result_list_count(list, VERDICT_FAIL), result_list_count(list, VERDICT_INCONCLUSIVE),
	       result_list_count(list, VERDICT_NOT_APPLICABLE));
}
