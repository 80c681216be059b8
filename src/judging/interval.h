/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 95 % interval of an energy ratio, by a circular block bootstrap: blocks of √n consecutive
 * pairs are drawn, because neighbouring windows err alike (Politis and Romano, "A circular
 * block-resampling procedure for stationary data", 1992). 1,000 draws from a fixed seed: the same
 * series have the same interval.
 */
#pragma once

#include "judging/pairing.h"

#define INTERVAL_PAIRS_LEAST 16 /* with fewer there is no interval */

/*
 * Of Σ predicted / Σ actual of @pairs[0..count). NAN with too few pairs, or where Σ actual may be
 * 0. 0 or -ENOMEM.
 */
int ratio_interval(const struct pair *pairs, size_t count, double *ret_low, double *ret_high);
