/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that are nearest to a point, by Euclidean distance; of equally near ones those that came
 * first. Pure; a search allocates nothing.
 *
 * Rows that are sorted by one of their numbers are searched from the point's place to both sides,
 * as far as that number alone leaves them near enough (Friedman, Baskett and Shustek, "An Algorithm
 * for Finding Nearest Neighbors", IEEE Transactions on Computers C-24, 1975). What is found is the
 * same.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NEAREST_ROWS_MAX 64

struct known_rows {
	double *rows;   /* [count × features] */
	double *values; /* [count] */
	size_t count, features;
	size_t axis;     /* which of the numbers they are sorted by */
	uint32_t *order; /* [count]: the place that each came at; NULL: they are not sorted */
};

/*
 * Sorts rows and values by the number that differs most, and makes @order, which is the caller's to
 * free. 0 or -ENOMEM.
 */
int nearest_rows_sort(struct known_rows *known);
/* The mean value of the @nearest rows, 1 … NEAREST_ROWS_MAX, or of all if there are fewer. */
double nearest_rows_mean(const struct known_rows *known, size_t nearest, const double *point);
