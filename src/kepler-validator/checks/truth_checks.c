// SPDX-License-Identifier: Apache-2.0
/*
 * Counters of energy never stand still, except for those of units that can be off: uncore, and
 * GPUs; only NVML reports when they draw nothing. A power of a whole watt may be the same for
 * hours on an idle machine, so it is doubted only if it was the same throughout while the work of
 * the machine changed; the work of its CPUs says nothing of GPUs.
 */
#include "kepler-validator/checks/truth_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "truth/meters/gpu_meter.h"

#define MISSING_MOST   0.1  /* of the run */
#define STILL_MOST     0.1  /* of the run, at a stretch */
#define STILL_LEAST_S  5    /* a meter may be updated that rarely */
#define CHANGE_OF_WORK 0.25 /* of the CPUs */

static double run_length_s(const struct observation *observation)
{
	size_t count = observation->phase_count;

	return count > 0 ? observation->phases[count - 1].phase.end_s -
				   observation->phases[0].phase.start_s
			 : 0;
}

static double covered_s(const struct series *series)
{
	return series_amount(series, series_start_s(series), series_end_s(series)).covered_s;
}

/* By how many CPUs the machine's work changed. */
static double change_of_work(const struct series *cpu)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; cpu && i < cpu->count; i++) {
		least = fmin(least, cpu->windows[i].rate);
		most = fmax(most, cpu->windows[i].rate);
	}
	return most - least;
}

static bool stood_still(const struct observation *observation, const struct truth_meter *meter,
			double length_s)
{
	bool is_gpu = strcmp(meter->kind, TRUTH_GPU) == 0;

	if (meter->is_power)
		return !is_gpu && meter->still_s > (1 - STILL_MOST) * length_s &&
		       change_of_work(observation->cpu) >
			       CHANGE_OF_WORK * (double)sysconf(_SC_NPROCESSORS_ONLN);
	bool may_be_off = strcmp(meter->kind, "uncore") == 0 || (is_gpu && !meter->is_device);
	return !may_be_off && meter->joules > 0 &&
	       meter->still_s > fmax(STILL_LEAST_S, STILL_MOST * length_s);
}

/* Is it a meter of the zone? @device: of a zone of a single meter; NULL: of all of its kind. */
static bool is_in(const struct truth_meter *meter, const struct truth_zone *zone,
		  const struct truth_meter *device)
{
	return device ? meter == device : strcmp(meter->kind, zone->kind) == 0;
}

static void doubt_missing(const struct truth *truth, struct truth_zone *zone,
			  const struct truth_meter *device, double part)
{
	uint64_t failures = 0, resets = 0, late = 0;
	const struct truth_meter *stalled = NULL;

	for (size_t i = 0; i < truth->meter_count; i++) {
		const struct truth_meter *meter = &truth->meters[i];

		if (!is_in(meter, zone, device))
			continue;
		failures += meter->failures;
		resets += meter->resets;
		late += meter->late;
		if (meter->stalls > 0)
			stalled = meter;
	}
	if (stalled) {
		(void)snprintf(zone->doubt, sizeof(zone->doubt),
			       "The truth stalled: it has no energy of %s for %.0f %% of the time, "
			       "because reads of %.120s did not return.",
			       zone->kind, 100 * part, stalled->path);
		return;
	}
	(void)snprintf(zone->doubt, sizeof(zone->doubt),
		       "The truth has no energy of %s for %.0f %% of the time: %llu readings "
		       "failed, %llu times a counter was reset or jumped, %llu times it was read "
		       "too late to know its wraps.",
		       zone->kind, 100 * part, (unsigned long long)failures,
		       (unsigned long long)resets, (unsigned long long)late);
}

static void find_doubt(const struct observation *observation, struct truth_zone *zone,
		       const struct truth_meter *device)
{
	const struct truth *truth = &observation->truth;
	double length_s = run_length_s(observation);
	double missing = 1 - covered_s(zone->series) / length_s;

	/* The missing time at both ends, before the first reading and after the last, is a step. */
	missing -= 2 * observation->step_s / length_s;
	if (length_s > 0 && missing > MISSING_MOST)
		doubt_missing(truth, zone, device, missing);
	for (size_t i = 0; i < truth->meter_count && !zone->doubt[0]; i++) {
		const struct truth_meter *meter = &truth->meters[i];

		if (is_in(meter, zone, device) && stood_still(observation, meter, length_s))
			(void)snprintf(zone->doubt, sizeof(zone->doubt),
				       "The truth stood still for %.0f s: %.160s.", meter->still_s,
				       meter->path);
	}
}

static int add_result(const char *name, const char *reason, struct result_list *ret)
{
	char text[RESULT_NAME_MAX];

	(void)snprintf(text, sizeof(text), "truth/%s", name);
	struct result *result = result_new(text, RESULT_CORRECTNESS);
	if (!result)
		return -ENOMEM;
	result_set_verdict(result, VERDICT_INCONCLUSIVE, "%s", reason);
	return result_list_add(ret, result);
}

/* Meters that the search did not find are missing in the sums of any zone of its. */
static int check_search(struct truth *truth, const char *stalled, bool is_gpus,
			struct result_list *ret)
{
	char doubt[sizeof(truth->zones[0].doubt)];

	if (!*stalled)
		return 0;
	(void)snprintf(doubt, sizeof(doubt),
		       "The search for meters stalled: %.140s did not answer within 2 s, so "
		       "meters may be missing in the sums.",
		       stalled);
	for (size_t i = 0; i < truth->zone_count; i++)
		if ((strcmp(truth->zones[i].kind, TRUTH_GPU) == 0) == is_gpus &&
		    !truth->zones[i].doubt[0])
			memcpy(truth->zones[i].doubt, doubt, sizeof(doubt));
	return add_result("search", doubt, ret);
}

int check_truth(struct observation *observation, struct result_list *ret)
{
	struct truth *truth = &observation->truth;
	char reason[RESULT_REASON_MAX];
	int r = 0;

	for (size_t i = 0; i < truth->zone_count && r == 0; i++) {
		find_doubt(observation, &truth->zones[i], NULL);
		if (truth->zones[i].doubt[0])
			r = add_result(truth->zones[i].kind, truth->zones[i].doubt, ret);
	}
	/* The zone of its kind has the result of a device that is in doubt. */
	for (size_t i = 0; i < truth->device_count; i++)
		find_doubt(observation, &truth->devices[i].zone,
			   &truth->meters[truth->devices[i].meter]);
	if (r == 0)
		r = check_search(truth, truth->stalled, false, ret);
	if (r == 0)
		r = check_search(truth, truth->gpu_stalled, true, ret);
	if (truth->left_out == 0 || r < 0)
		return r;
	(void)snprintf(reason, sizeof(reason),
		       "%zu meters were left out: at most %d meters of %d kinds are read, so sums "
		       "are not complete.",
		       truth->left_out, TRUTH_METERS_MAX, TRUTH_ZONES_MAX);
	return add_result("size", reason, ret);
}

void truth_doubt_apply(const struct truth_zone *zone, struct result *result)
{
	char reason[RESULT_REASON_MAX];

	if (!zone->doubt[0] || (result->verdict != VERDICT_PASS && result->verdict != VERDICT_FAIL))
		return;
	(void)snprintf(reason, sizeof(reason), "%s", result->reason);
	const char *before = verdict_name(result->verdict);
	result->cause = CAUSE_NONE;
	result_set_verdict(result, VERDICT_INCONCLUSIVE, "%s By this truth: %s. %.200s",
			   zone->doubt, before, reason);
}
