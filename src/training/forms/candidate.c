// SPDX-License-Identifier: Apache-2.0
#include "training/forms/candidate.h"

#include <math.h>

#include "base/macro.h"

/* Quantiles of 95 % of Student's t, by degrees of freedom; beyond them the normal's is used. */
static double quantile(size_t freedom)
{
	static const double quantiles[] = { 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
					    1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753 };

	return freedom <= ARRAY_SIZE(quantiles) ? quantiles[freedom - 1] : 1.75;
}

void candidate_judge(const double *current, const double *candidate, size_t blocks,
		     struct candidate_verdict *ret)
{
	double squares = 0;

	*ret = (struct candidate_verdict){ .uncertainty_w = (double)INFINITY };
	for (size_t i = 0; i < blocks; i++) {
		ret->current_w += current[i] / (double)blocks;
		ret->candidate_w += candidate[i] / (double)blocks;
	}
	ret->gain_w = ret->current_w - ret->candidate_w;
	if (blocks < CANDIDATE_BLOCKS_MIN)
		return;
	for (size_t i = 0; i < blocks; i++) {
		double off = current[i] - candidate[i] - ret->gain_w;

		squares += off * off;
	}
	ret->uncertainty_w =
		quantile(blocks - 1) * sqrt(squares / (double)(blocks - 1) / (double)blocks);
	ret->is_better = ret->gain_w > 0 && ret->gain_w > ret->uncertainty_w;
}
