// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/cpu_check.h"

#include <errno.h>
#include <math.h>

#define TICK_S 0.01 /* USER_HZ is 100 */

/* The CPU time of one account between two times; NAN: the kernel does not have it. */
static double account_s(const struct series *account, double start_s, double end_s)
{
	if (!account || account->count == 0)
		return NAN;
	return series_amount(account, start_s, end_s).amount;
}

/*
 * The error of @ticks_s where it is the only account. A tick is charged to the task that runs when
 * it comes, so that the number of ticks scatters as its square root; three times that is enough.
 */
static double own_error_s(double ticks_s, double tasks_s)
{
	return isnan(tasks_s) ? 3 * sqrt(fmax(ticks_s, 0) * TICK_S) : 0;
}

static void judge(struct result *result, double said_s, double ticks_s, double tasks_s)
{
	double low_s = fmin(ticks_s, tasks_s), high_s = fmax(ticks_s, tasks_s);
	double most = result->threshold.max_error;

	/* By the account that is nearer. */
	result->error = said_s / fmin(fmax(said_s, low_s), high_s) - 1;
	if (!(high_s > 0)) {
		result->error = NAN;
		result_set_verdict(result, VERDICT_INCONCLUSIVE, "No CPU was busy.");
	} else if (fabs(result->error) > most &&
		   fabs(said_s - ticks_s) <= most * ticks_s + own_error_s(ticks_s, tasks_s)) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The node's CPU time is %.2f s, and the kernel's ticks have "
				   "%.2f s, which is too little for them: they are off by up to "
				   "%.2f s.",
				   said_s, ticks_s, own_error_s(ticks_s, tasks_s));
	} else if (fabs(result->error) > most) {
		result->cause = CAUSE_SCALE;
		result_set_verdict(result, VERDICT_FAIL,
				   "The node's CPU time is %.4g s, the kernel's account %.4g s: "
				   "%.4g times as much.",
				   said_s, said_s / (1 + result->error), 1 + result->error);
	} else if (said_s > (1 + most) * low_s || said_s < (1 - most) * high_s) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The kernel's accounts disagree: its ticks (/proc/stat) have "
				   "%.2f s of CPU time, its scheduler (/proc/schedstat) has "
				   "%.2f s, and the node has %.2f s. A virtual machine misses "
				   "ticks while its host runs something else.",
				   ticks_s, tasks_s, said_s);
	} else {
		result_set_verdict(result, VERDICT_PASS,
				   "The node's CPU time is %.2f s, the kernel's account %.2f s.",
				   said_s, ticks_s);
	}
}

/* As a whole, since ticks are coarse. */
int check_cpu_time(const struct checking *checking)
{
	const struct exporter_zone *zone = exporter_find_zone(checking->exporter, "cpu");
	const struct series *series = zone ? zone->sums[ENERGY_NODE].series : NULL,
			    *ticks = checking->observation->cpu;

	if (!series || series->count == 0)
		return 0;
	struct result *result =
		checking_begin(checking, RESULT_CORRECTNESS, "correctness", "cpu-time");
	if (!result)
		return -ENOMEM;
	double start_s = fmax(series_start_s(series), series_start_s(ticks));
	double end_s = fmin(series_end_s(series), series_end_s(ticks));

	result->threshold.max_error = checking->bounds->max_effect_error;
	judge(result, series_amount(series, start_s, end_s).amount,
	      account_s(ticks, start_s, end_s),
	      account_s(checking->observation->tasks, start_s, end_s));
	return result_list_add(checking->results, result);
}
