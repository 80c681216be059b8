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
 * Computes the interval of Σ predicted / Σ actual over @pairs[0..count). Both ends are NAN with
 * fewer than INTERVAL_PAIRS_LEAST pairs, or if Σ actual may be 0. 0 or -ENOMEM.
 */
int ratio_interval(const struct pair *pairs, size_t count, double *ret_low, double *ret_high);
