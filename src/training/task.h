/* SPDX-License-Identifier: Apache-2.0 */
/* What a trainer is given: rows of features, and their watts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAINING_ROWS_MAX 1000000U

/* Finite numbers only. */
struct training_task {
	const double *x; /* rows × features, each feature divided by its scale */
	const double *y; /* W of each row */
	size_t rows;
	size_t features;
	size_t main_feature; /* the only one that a curve sees */
	/* [features]: power does not fall as it grows; NULL: of none is that known. */
	const bool *is_load;
	uint64_t seed;
};
