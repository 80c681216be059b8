/* SPDX-License-Identifier: Apache-2.0 */
/* How power is written for people: the one form that tables, pages and reports have. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WATTS_TEXT_MAX 24

/* How many decimals a power of that size is shown with: two below 100 W, else one. */
unsigned watts_decimals(double watts);
/* "14.60", "198.0", "–" for NaN; "<0.01" for a value that would look like 0. No unit. */
void watts_text(char buf[static WATTS_TEXT_MAX], double watts);
/*
 * An error bound with two significant digits, without a unit: "0.023", "2.2", "74", "120". It is
 * never written as 0: a bound of 0 would say that the number is exact.
 */
void watts_bound_text(char buf[static WATTS_TEXT_MAX], double watts);
