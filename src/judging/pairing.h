/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two series as pairs: the windows of the coarser one, each with the mean of both in it.
 *
 * A window that the other series covers by less than 95 % is not paired, and its time is counted.
 * The predicted series is read @lag_s later, so a lag is taken out by giving it.
 */
#pragma once

#include <stddef.h>

#include "judging/series.h"

struct pair {
	double start_s, span_s; /* of the actual series */
	double actual, predicted;
};

struct pairs {
	struct pair *items;
	size_t count;
	double paired_s;
	double unpaired_actual_s;    /* of all of the actual series */
	double unpaired_predicted_s; /* of the predicted series, while the actual series lasts */
};

/*
 * At most @most pairs: of more windows, every n-th is taken, which is enough to find a lag. 0 or
 * -ENOMEM; pairs_release() in any case.
 */
int pairs_make(const struct series *actual, const struct series *predicted, double lag_s,
	       size_t most, struct pairs *ret);
void pairs_release(struct pairs *pairs);
