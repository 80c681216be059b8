/* SPDX-License-Identifier: Apache-2.0 */
/* How power is written for people: the one form that tables, pages and reports have. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

#define WATTS_TEXT_MAX 24

/* How many decimals a power of that size is shown with: two below 100 W, else one. */
unsigned watts_decimals(double watts);
/* A part of a power, by name: "rest of " "psys". */
struct watts_piece {
	const char *before, *name;
	uint64_t power_uw;
};

/*
 * Appends "package 92.0 · dram 9.0 · rest of psys 97.0", with as many decimals as @total_uw has,
 * and rounded so that the pieces that are shown make the total that is shown.
 */
void watts_pieces_add(struct strbuf *out, const struct watts_piece pieces[], size_t count,
		      uint64_t total_uw);

/* "14.60", "198.0", "–" for NaN; "<0.01" for a value that would look like 0. No unit. */
void watts_text(char buf[static WATTS_TEXT_MAX], double watts);
/*
 * An error bound with two significant digits, without a unit: "0.023", "2.2", "74", "120". It is
 * never written as 0: a bound of 0 would say that the number is exact.
 */
void watts_bound_text(char buf[static WATTS_TEXT_MAX], double watts);
