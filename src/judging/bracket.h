/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An A-B-A bracket: the power before, with and after something was added. The machine's own drift
 * bounds the effect that can be claimed: with a drift of more than a third of the effect, nothing
 * is decided.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

struct bracket {
	double before, with, after; /* W, or another unit */
};

static inline double bracket_effect(const struct bracket *bracket)
{
	return bracket->with - (bracket->before + bracket->after) / 2;
}

static inline double bracket_drift(const struct bracket *bracket)
{
	return fabs(bracket->after - bracket->before);
}

/* False also where a value is NAN. */
static inline bool bracket_is_conclusive(const struct bracket *bracket)
{
	return bracket_drift(bracket) <= fabs(bracket_effect(bracket)) / 3;
}
