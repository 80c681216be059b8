/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors of streamed predictions, in memory that does not grow with the rows: sums over all of
 * them, sums by group for the interval of the mean, and for the bound a sample of 100,000.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "training/error_sums.h"
#include "training/random.h"
#include "training/training_request.h"

struct streamed_score {
	struct error_sums sums;
	double *group_errors, *group_rows; /* [groups] */
	size_t groups;
	double *watts, *predicted; /* the sample */
	struct random random;
};

/* 0 or -ENOMEM. */
int streamed_score_new(struct streamed_score *ret, size_t groups, uint64_t seed);
void streamed_score_release(struct streamed_score *score);
/* A row that the model had not seen. */
void streamed_score_add(struct streamed_score *score, uint32_t group, double watts,
			double predicted);
/* Score, bound and failure of @ret: 0 or -ENOMEM. */
int streamed_score_finish(const struct streamed_score *score, struct training_result *ret);
