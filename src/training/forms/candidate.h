/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a new model is better than the one in use, on blocks of rows that neither has
 * seen.
 *
 * Rows that follow each other are alike, so that not they but blocks are the observations: the
 * differences of both models' mean absolute errors, block by block (a paired test; Student, "The
 * Probable Error of a Mean", Biometrika 6, 1908). The candidate is better when the mean difference
 * is above 0 by more than its uncertainty, one-sided with 95 %. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CANDIDATE_BLOCKS_MIN 3

struct candidate_verdict {
	bool is_better;
	double current_w, candidate_w; /* means of the blocks' errors */
	double gain_w;                 /* the first less the second */
	double uncertainty_w;          /* INFINITY with too few blocks */
};

/* @current and @candidate [blocks]: mean absolute errors in W, finite. */
void candidate_judge(const double *current, const double *candidate, size_t blocks,
		     struct candidate_verdict *ret);
