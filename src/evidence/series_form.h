/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a series' numbers, by its name or query: rate or counter, and the unit. */
#pragma once

#include <stdbool.h>

#include "judging/series.h"

enum series_kind {
	SERIES_AUTO,    /* by its name */
	SERIES_RATE,    /* each value is the mean of the time before it */
	SERIES_COUNTER, /* each value is a sum that only grows */
};

struct series_form {
	bool is_counter;
	double factor;    /* values × factor are in J or W; 1 where the unit is not known */
	const char *unit; /* of the rate; "W", or "units/s" */
};

/*
 * By words in @name, which is a metric, a query or a column's name. A call of rate(), irate() or
 * deriv() is a rate; otherwise "_total", "energy" or a unit of energy (joules, uj, kwh) is a
 * counter. Everything else is a rate. "milli", "micro", "_mw", "_uw" and so on set the factor. A
 * name without a unit counts as W.
 */
struct series_form series_form_of(const char *name, enum series_kind kind);
/* Adds a value as the form says. 0 or the error of series_add_…(). */
int series_form_add(const struct series_form *form, struct series *series, double time_s,
		    double value);
/*
 * A time as other programs write it, in s: a number of s, ms, µs or ns since 1970, by its
 * magnitude, or "2024-11-12T04:56:06Z". NAN if it is neither.
 */
double series_time_s(const char *text);
/* A value; NAN and infinities in any spelling are NAN. False: it is not a number. */
bool series_value(const char *text, double *ret);
