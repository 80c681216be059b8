// SPDX-License-Identifier: Apache-2.0
/*
 * Wrong predictions of branches take most of the time, so that distances of a whole leaf are found
 * before any of them is compared, and a leaf is as large as looking at it costs less than deciding
 * about its halves.
 */
#include "model/nearest_rows.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define LEAF_ROWS 16 /* a range of more rows is halved */
#define DEPTH_MAX 32 /* ranges that wait: one a level, and a place has 32 bits */

/* The nearest so far, in order; behind the last one they are infinitely far. */
struct found_rows {
	double distance[NEAREST_ROWS_MAX], value[NEAREST_ROWS_MAX];
	uint32_t place[NEAREST_ROWS_MAX];
	size_t wanted;
};

/* A range of sorted rows, and how far it is at least. */
struct range {
	size_t split, first, count;
	double distance;
};

struct sorted_row {
	double number;
	uint32_t place;
};

static double distance_squared(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

static bool is_before(const struct found_rows *found, size_t at, double distance, uint32_t place)
{
	return distance < found->distance[at] ||
	       (!(distance > found->distance[at]) && place < found->place[at]);
}

static void insert(struct found_rows *found, double distance, uint32_t came, double value)
{
	size_t place = found->wanted - 1;

	if (!is_before(found, place, distance, came))
		return;
	for (; place > 0 && is_before(found, place - 1, distance, came); place--) {
		found->distance[place] = found->distance[place - 1];
		found->value[place] = found->value[place - 1];
		found->place[place] = found->place[place - 1];
	}
	found->distance[place] = distance;
	found->value[place] = value;
	found->place[place] = came;
}

/* @count is at most LEAF_ROWS. */
static void look_at(const struct known_rows *known, size_t first, size_t count, const double *point,
		    struct found_rows *found)
{
	double distances[LEAF_ROWS];

	for (size_t i = 0; i < count; i++)
		distances[i] = distance_squared(known->rows + (first + i) * known->features, point,
						known->features);
	for (size_t i = 0; i < count; i++) {
		if (distances[i] > found->distance[found->wanted - 1])
			continue; /* as most are */
		insert(found, distances[i],
		       known->order ? known->order[first + i] : (uint32_t)(first + i),
		       known->values[first + i]);
	}
}

static struct range first_half(const struct range *range)
{
	return (struct range){ 2 * range->split + 1, range->first, range->count / 2,
			       range->distance };
}

static struct range second_half(const struct range *range)
{
	size_t half = range->count / 2;

	return (struct range){ 2 * range->split + 2, range->first + half, range->count - half,
			       range->distance };
}

/* The half that is nearer; the other one, by how far it is, becomes *ret_far. */
static struct range near_half(const struct known_rows *known, const struct range *range,
			      const double *point, struct range *ret_far)
{
	const struct row_split *split = &known->splits[range->split];
	double to_first = point[split->feature] - split->low;
	double to_second = split->high - point[split->feature];

	if (to_first < to_second) {
		*ret_far = second_half(range);
		ret_far->distance = to_second * to_second;
		return first_half(range);
	}
	*ret_far = first_half(range);
	ret_far->distance = to_first * to_first;
	return second_half(range);
}

static void search_sorted(const struct known_rows *known, const double *point,
			  struct found_rows *found)
{
	struct range waiting[DEPTH_MAX], range = { .count = known->count };
	size_t count = 0;

	for (;;) {
		while (range.count > LEAF_ROWS)
			range = near_half(known, &range, point, &waiting[count++]);
		look_at(known, range.first, range.count, point, found);
		do {
			if (count == 0)
				return;
			range = waiting[--count];
		} while (range.distance > found->distance[found->wanted - 1]);
	}
}

double nearest_rows_mean(const struct known_rows *known, size_t nearest, const double *point)
{
	struct found_rows found;
	double sum = 0;

	found.wanted = nearest < NEAREST_ROWS_MAX ? nearest : NEAREST_ROWS_MAX;
	found.wanted = known->count < found.wanted ? known->count : found.wanted;
	if (found.wanted == 0)
		return 0;
	for (size_t i = 0; i < found.wanted; i++) {
		found.distance[i] = (double)INFINITY;
		found.value[i] = 0;
		found.place[i] = UINT32_MAX;
	}
	if (known->order)
		search_sorted(known, point, &found);
	for (size_t i = 0; !known->order && i < known->count; i += LEAF_ROWS) {
		size_t rest = known->count - i;

		look_at(known, i, rest < LEAF_ROWS ? rest : LEAF_ROWS, point, &found);
	}
	for (size_t i = 0; i < found.wanted; i++)
		sum += found.value[i];
	return sum / (double)found.wanted;
}

static int compare_rows(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	int by_number = (x->number > y->number) - (x->number < y->number);

	return by_number ? by_number : (x->place > y->place) - (x->place < y->place);
}

/* The feature that differs most among the rows of a range. */
static size_t widest_feature(const struct known_rows *known, const struct sorted_row *range,
			     size_t count)
{
	double most = -1;
	size_t ret = 0;

	for (size_t i = 0; i < known->features; i++) {
		double low = (double)INFINITY, high = -low;

		for (size_t j = 0; j < count; j++) {
			double number = known->rows[range[j].place * known->features + i];

			low = number < low ? number : low;
			high = number > high ? number : high;
		}
		if (high - low > most) {
			most = high - low;
			ret = i;
		}
	}
	return ret;
}

static void halve(const struct known_rows *known, struct sorted_row *range, size_t count,
		  struct row_split *ret)
{
	size_t feature = widest_feature(known, range, count);

	for (size_t i = 0; i < count; i++)
		range[i].number = known->rows[range[i].place * known->features + feature];
	qsort(range, count, sizeof(*range), compare_rows);
	*ret = (struct row_split){ feature, range[count / 2 - 1].number, range[count / 2].number };
}

/* Sorts places of rows so that each range is halved where its split says. */
static void halve_ranges(const struct known_rows *known, struct sorted_row *sorted)
{
	struct range waiting[DEPTH_MAX], range = { .count = known->count };
	size_t count = 0;

	for (;;) {
		while (range.count > LEAF_ROWS) {
			halve(known, sorted + range.first, range.count,
			      &known->splits[range.split]);
			waiting[count++] = second_half(&range);
			range = first_half(&range);
		}
		if (count == 0)
			return;
		range = waiting[--count];
	}
}

/* Splits of as many levels as the larger halves have. */
static size_t count_splits(size_t rows)
{
	size_t ret = 0;

	for (; rows > LEAF_ROWS; rows -= rows / 2)
		ret = 2 * ret + 1;
	return ret;
}

int nearest_rows_sort(struct known_rows *known)
{
	size_t width = known->features * sizeof(double);
	CLEANUP_FREE struct sorted_row *sorted = calloc(known->count, sizeof(*sorted));
	CLEANUP_FREE double *rows = calloc(known->count, width);
	CLEANUP_FREE double *values = calloc(known->count, sizeof(*values));
	CLEANUP_FREE uint32_t *order = calloc(known->count, sizeof(*order));

	known->split_count = count_splits(known->count);
	known->splits = calloc(known->split_count + 1, sizeof(*known->splits));
	if (!sorted || !rows || !values || !order || !known->splits) {
		free(known->splits);
		known->splits = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < known->count; i++)
		sorted[i].place = (uint32_t)i;
	halve_ranges(known, sorted);
	for (size_t i = 0; i < known->count; i++) {
		memcpy(rows + i * known->features, known->rows + sorted[i].place * known->features,
		       width);
		values[i] = known->values[sorted[i].place];
		order[i] = sorted[i].place;
	}
	memcpy(known->rows, rows, known->count * width);
	memcpy(known->values, values, known->count * sizeof(*values));
	known->order = TAKE_PTR(order);
	return 0;
}
