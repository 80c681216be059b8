// SPDX-License-Identifier: Apache-2.0
#include "training/streamed_score.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "training/bounds.h"

#define SAMPLE 100000

int streamed_score_new(struct streamed_score *ret, size_t groups, uint64_t seed)
{
	*ret = (struct streamed_score){ .groups = groups, .random = { seed } };
	ret->low_w = (double)INFINITY;
	ret->high_w = -(double)INFINITY;
	ret->group_errors = calloc(2 * groups + 1, sizeof(*ret->group_errors));
	ret->watts = calloc(2 * (size_t)SAMPLE, sizeof(*ret->watts));
	if (!ret->group_errors || !ret->watts) {
		streamed_score_release(ret);
		return -ENOMEM;
	}
	ret->group_rows = ret->group_errors + groups;
	ret->predicted = ret->watts + SAMPLE;
	return 0;
}

void streamed_score_release(struct streamed_score *score)
{
	free(score->group_errors);
	free(score->watts);
	*score = (struct streamed_score){ .groups = 0 };
}

void streamed_score_add(struct streamed_score *score, uint32_t group, double watts,
			double predicted)
{
	double error = fabs(predicted - watts);
	uint64_t place = score->rows++;

	score->errors += error;
	score->power += watts;
	score->low_w = fmin(score->low_w, watts);
	score->high_w = fmax(score->high_w, watts);
	if (watts > 0) {
		score->ratios += error / watts;
		score->positive++;
	}
	score->group_errors[group] += error;
	score->group_rows[group]++;
	if (place >= SAMPLE)
		place = random_below(&score->random, (size_t)score->rows);
	if (place < SAMPLE) {
		score->watts[place] = watts;
		score->predicted[place] = predicted;
	}
}

int streamed_score_finish(const struct streamed_score *score, struct training_result *ret)
{
	double rows = (double)score->rows, range = score->high_w - score->low_w;
	size_t kept = score->rows < SAMPLE ? (size_t)score->rows : SAMPLE;
	struct validation_score *out = &ret->score;

	if (score->rows == 0)
		return diag_set(&ret->failure, -EINVAL, "no row is held out");
	*out = (struct validation_score){ .mae_w = score->errors / rows,
					  .rows = (size_t)score->rows };
	out->mape_percent =
		score->positive ? 100 * score->ratios / (double)score->positive : (double)NAN;
	out->weighted_percent = score->power > 0 ? 100 * score->errors / score->power : (double)NAN;
	out->range_percent = range > 0 ? 100 * out->mae_w / range : (double)NAN;
	validation_group_interval(score->group_errors, score->group_rows, score->groups,
				  score->random.state, &out->low_w, &out->high_w);
	ret->coverage = (double)NAN;
	return bounds_find(score->watts, score->predicted, kept, &ret->bound);
}
