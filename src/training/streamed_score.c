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
	error_sums_init(&ret->sums);
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
	uint64_t place = score->sums.rows;

	error_sums_add(&score->sums, watts, predicted);
	score->group_errors[group] += fabs(predicted - watts);
	score->group_rows[group]++;
	if (place >= SAMPLE)
		place = random_below(&score->random, (size_t)score->sums.rows);
	if (place < SAMPLE) {
		score->watts[place] = watts;
		score->predicted[place] = predicted;
	}
}

int streamed_score_finish(const struct streamed_score *score, struct training_result *ret)
{
	uint64_t rows = score->sums.rows;
	struct validation_score *out = &ret->score;

	if (rows == 0)
		return diag_set(&ret->failure, -EINVAL, "no row is held out");
	error_sums_score(&score->sums, out);
	validation_group_interval(score->group_errors, score->group_rows, score->groups,
				  score->random.state, &out->low_w, &out->high_w);
	ret->coverage = (double)NAN;
	return bounds_find(score->watts, score->predicted, rows < SAMPLE ? (size_t)rows : SAMPLE,
			   &ret->bound);
}
