// SPDX-License-Identifier: Apache-2.0
#include "judging/published.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define TOLERANCE 0.01
#define ROUNDING  0.006 /* they have two decimals */
#define ENDLESS   1e9   /* %: what others write as infinite, or as 10^15 */

static double first_step_s(const struct series *series)
{
	return series->count > 1 ? series->windows[1].end_s - series->windows[0].end_s : 0;
}

static void add_pair(struct recomputed *sums, double actual, double predicted)
{
	double error = fabs(predicted - actual);
	sums->pairs++;
	sums->mse += error * error;
	sums->mae += error;
	sums->mape += 100 * error / fmax(fabs(actual), DBL_EPSILON);
	sums->swapped_mape += 100 * error / fmax(fabs(predicted), DBL_EPSILON);
	sums->zeros += fabs(actual) <= 0;
}

void published_recompute(const struct series *actual, const struct series *predicted,
			 struct recomputed *ret)
{
	double near_s = fmin(first_step_s(actual), first_step_s(predicted));
	size_t a = 0, p = 0;

	*ret = (struct recomputed){ 0 };
	while (a < actual->count && p < predicted->count) {
		double apart_s = predicted->windows[p].end_s - actual->windows[a].end_s;
		if (fabs(apart_s) < near_s)
			add_pair(ret, actual->windows[a++].rate, predicted->windows[p++].rate);
		else if (apart_s > 0)
			a++;
		else
			p++;
	}
	ret->left_out = actual->count + predicted->count - 2 * ret->pairs;
	ret->mse /= (double)ret->pairs;
	ret->mae /= (double)ret->pairs;
	ret->mape /= (double)ret->pairs;
	ret->swapped_mape /= (double)ret->pairs;
}

/* As a ratio, beyond what rounding explains; NAN: nothing was published. */
static double disagreement(double published, double recomputed)
{
	if (isnan(published))
		return NAN;
	if (isinf(published))
		return recomputed > ENDLESS ? 0 : INFINITY;
	double apart = fabs(published - recomputed);
	return apart <= ROUNDING ? 0 : (apart - ROUNDING) / fmax(fabs(published), fabs(recomputed));
}

static bool agrees(double published, double recomputed)
{
	return isnan(published) || disagreement(published, recomputed) <= TOLERANCE;
}

bool published_follows(const struct published *published, const struct recomputed *recomputed)
{
	return agrees(published->mse, recomputed->mse) && agrees(published->mae, recomputed->mae) &&
	       agrees(published->mape, recomputed->mape);
}

static void explain_difference(struct result *result, const struct published *published,
			       const struct recomputed *found)
{
	bool only_mape = agrees(published->mse, found->mse) && agrees(published->mae, found->mae);
	if (only_mape && agrees(published->mape, found->swapped_mape))
		result_set_verdict(result, VERDICT_FAIL,
				   "Published MAPE %.4g %%, recomputed %.4g %%: its two arguments "
				   "are swapped.",
				   published->mape, found->mape);
	else if (only_mape)
		result_set_verdict(result, VERDICT_FAIL,
				   "Published MAPE %.4g %%, recomputed %.4g %%.", published->mape,
				   found->mape);
	else if (!agrees(published->mse, found->mse))
		result_set_verdict(result, VERDICT_FAIL,
				   "Published MSE %.4g, recomputed %.4g: these are other series.",
				   published->mse, found->mse);
	else
		result_set_verdict(result, VERDICT_FAIL, "Published MAE %.4g, recomputed %.4g.",
				   published->mae, found->mae);
}

void published_judge(struct result *result, const struct published *published,
		     const struct series *actual, const struct series *predicted)
{
	struct recomputed found;
	char zeros[160] = "";

	published_recompute(actual, predicted, &found);
	result->threshold.max_error = TOLERANCE;
	if (actual->merged > 1 || predicted->merged > 1 || actual->is_counter ||
	    predicted->is_counter) {
		result_set_verdict(result, VERDICT_INCONCLUSIVE,
				   "The series are not those samples that the published numbers "
				   "are of (counters, or too many to keep each).");
		return;
	}
	if (found.pairs == 0) {
		result_set_verdict(result, VERDICT_NOT_APPLICABLE,
				   "No sample has a counterpart of the same time.");
		return;
	}
	/* fmax() ignores NAN. */
	result->error = fmax(fmax(disagreement(published->mse, found.mse),
				  disagreement(published->mae, found.mae)),
			     disagreement(published->mape, found.mape));
	if (!published_follows(published, &found)) {
		explain_difference(result, published, &found);
		return;
	}
	if (found.zeros > 0)
		(void)snprintf(zeros, sizeof(zeros),
			       "; the actual value is 0 in %zu of %zu pairs, so MAPE means nothing",
			       found.zeros, found.pairs);
	result_set_verdict(result, VERDICT_PASS,
			   "The published numbers follow from the series (MSE %.4g, MAPE %.4g %%; "
			   "%zu samples left out)%s.",
			   found.mse, found.mape, found.left_out, zeros);
}
