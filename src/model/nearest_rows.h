/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that are nearest to a point, by Euclidean distance; of equally near ones those that came
 * first. Pure; a search allocates nothing.
 *
 * Rows that are sorted form a k-d tree: each range of them that has more than a leaf's is halved at
 * the median of the number that differs most there, and a search leaves out the halves that this
 * number alone keeps too far away (Friedman, Bentley and Finkel, "An Algorithm for Finding Best
 * Matches in Logarithmic Expected Time", ACM Transactions on Mathematical Software 3, 1977). What
 * is found is the same.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NEAREST_ROWS_MAX 64

/* Where a range of rows is halved: the first half has count / 2 of them. */
struct row_split {
	size_t feature;   /* the number that they are sorted by */
	double low, high; /* the highest of the first half, the lowest of the second */
};

struct known_rows {
	double *rows;   /* [count × features] */
	double *values; /* [count] */
	size_t count, features;
	uint32_t *order; /* [count]: the place that each came at; NULL: they are not sorted */
	/* The first is that of all rows; those of the halves of split i are 2 i + 1 and 2 i + 2. */
	struct row_split *splits;
	size_t split_count;
};

/*
 * Sorts rows and values, and makes @order and @splits, which are the caller's to free. 0 or
 * -ENOMEM.
 */
int nearest_rows_sort(struct known_rows *known);
/* The mean value of the @nearest rows, 1 … NEAREST_ROWS_MAX, or of all if there are fewer. */
double nearest_rows_mean(const struct known_rows *known, size_t nearest, const double *point);
