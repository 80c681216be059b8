/* SPDX-License-Identifier: Apache-2.0 */
/* A reading of the truth at a time that a test names, and that does not pass meanwhile. */
#pragma once

#include "truth/truth.h"

static inline double stopped_now_s(const void *time_s)
{
	return *(const double *)time_s;
}

static inline int read_truth_at(struct truth *truth, double time_s)
{
	const struct truth_clock clock = { stopped_now_s, &time_s };

	return truth_read(truth, &clock);
}
