/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a model still fits: its error on each new block of rows, as a ratio to the error
 * that it was published with, in a one-sided cumulative sum (Page, "Continuous Inspection Schemes",
 * Biometrika 41, 1954):
 *
 *	S = max(0, S + min(ratio, DRIFT_RATIO_MAX) - DRIFT_REFERENCE), alarm when S > DRIFT_LIMIT
 *
 * A single block, however wild, raises no alarm; a model whose error has doubled raises one with
 * the fifth block, and one whose error is three times as large with the second. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DRIFT_REFERENCE 1.5 /* a block of few rows is off by half as much again by chance */
#define DRIFT_LIMIT     2.0
#define DRIFT_RATIO_MAX 3.0

struct drift {
	double sum;
	double ratio; /* of the newest block; NAN: no block yet, or no stated error */
	bool alarm;
	uint64_t blocks;
	uint64_t run; /* blocks since the sum was 0: those that the model does not fit */
};

void drift_init(struct drift *drift); /* also when the model is replaced */
/*
 * Takes a block's mean absolute error beside the stated one, in W. true: the alarm begins with it.
 * The alarm ends when the sum is 0 again. Without a stated error above 0 nothing is known.
 */
bool drift_take(struct drift *drift, double error_w, double stated_w);
