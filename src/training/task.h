/* SPDX-License-Identifier: Apache-2.0 */
/* A trainer's input: rows of features, and their watts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/predictor.h"

/* Finite numbers only. */
struct training_task {
	const double *x; /* rows × features, each feature divided by its scale */
	const double *y; /* W of each row */
	size_t rows;
	size_t features;
	size_t main_feature; /* the only one that a curve sees */
	/* [features]: power does not fall as it grows; NULL: of none is that known. */
	const bool *is_load;
	/* [features]: it grows with load, together with the others that do; NULL: all do. */
	const bool *grows;
	/* Quotients of the row's features. */
	const struct feature_ratio *ratios;
	size_t ratio_count;
	bool is_dynamic; /* watts above idle: 0 where nothing runs */
	uint64_t seed;
};
