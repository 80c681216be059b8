/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as doubles, for formats that have no decimals: equal to what a reader of the text gets.
 *
 * Above 2^53, which a counter of nanoseconds reaches in 104 days of one CPU, a division would round
 * twice; it is inline for the others because rows of all processes are converted by it.
 */
#pragma once

#include <float.h>
#include <stdint.h>

#include "export/sink.h"

extern const double powers_of_ten[10];

/* By way of text. */
double nearest_large(uint64_t value, unsigned decimals);

/* The double nearest to @value × 10^-@decimals; decimals up to 9. */
static inline double nearest_scaled(uint64_t value, unsigned decimals)
{
	return value >> DBL_MANT_DIG ? nearest_large(value, decimals)
				     : (double)value / powers_of_ten[decimals];
}

static inline double nearest_value(const struct value *value)
{
	return value->is_real ? value->real : nearest_scaled(value->integer, value->decimals);
}
