// SPDX-License-Identifier: Apache-2.0
#include "model/nearest_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define BLOCK 16 /* rows of one side that are looked at before it is asked whether to go on */

/* The nearest so far, in order. */
struct found_rows {
	double distance[NEAREST_ROWS_MAX], value[NEAREST_ROWS_MAX];
	uint32_t place[NEAREST_ROWS_MAX];
	size_t count, wanted;
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

static void look_at(const struct known_rows *known, size_t row, const double *point,
		    struct found_rows *found)
{
	double distance =
		distance_squared(known->rows + row * known->features, point, known->features);
	uint32_t came;
	size_t place;

	if (found->count == found->wanted && distance > found->distance[found->count - 1])
		return; /* as most are */
	came = known->order ? known->order[row] : (uint32_t)row;
	if (found->count == found->wanted && !is_before(found, found->count - 1, distance, came))
		return;
	place = found->count < found->wanted ? found->count++ : found->count - 1;
	for (; place > 0 && is_before(found, place - 1, distance, came); place--) {
		found->distance[place] = found->distance[place - 1];
		found->value[place] = found->value[place - 1];
		found->place[place] = found->place[place - 1];
	}
	found->distance[place] = distance;
	found->value[place] = known->values[row];
	found->place[place] = came;
}

/* The first row whose number is not below @number. */
static size_t lower_bound(const struct known_rows *known, double number)
{
	size_t first = 0, count = known->count;

	while (count > 0) {
		size_t half = count / 2;

		if (known->rows[(first + half) * known->features + known->axis] < number) {
			first += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return first;
}

/* Whether @row and those behind it may be among the nearest, by the number alone. */
static bool may_be_near(const struct known_rows *known, size_t row, const double *point,
			const struct found_rows *found)
{
	double off = known->rows[row * known->features + known->axis] - point[known->axis];

	return found->count < found->wanted || !(off * off > found->distance[found->count - 1]);
}

static void search_sorted(const struct known_rows *known, const double *point,
			  struct found_rows *found)
{
	size_t above = lower_bound(known, point[known->axis]), below = above;
	bool goes_up = true, goes_down = true;

	while (goes_up || goes_down) {
		goes_up =
			goes_up && above < known->count && may_be_near(known, above, point, found);
		for (int i = 0; goes_up && i < BLOCK && above < known->count; i++)
			look_at(known, above++, point, found);
		goes_down = goes_down && below > 0 && may_be_near(known, below - 1, point, found);
		for (int i = 0; goes_down && i < BLOCK && below > 0; i++)
			look_at(known, --below, point, found);
	}
}

double nearest_rows_mean(const struct known_rows *known, size_t nearest, const double *point)
{
	struct found_rows found;
	double sum = 0;

	found.count = 0;
	found.wanted = nearest < NEAREST_ROWS_MAX ? nearest : NEAREST_ROWS_MAX;
	if (known->count == 0 || found.wanted == 0)
		return 0;
	if (known->order) {
		search_sorted(known, point, &found);
	} else {
		for (size_t i = 0; i < known->count; i++)
			look_at(known, i, point, &found);
	}
	for (size_t i = 0; i < found.count; i++)
		sum += found.value[i];
	return sum / (double)found.count;
}

static double spread(const struct known_rows *known, size_t feature)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < known->count; i++)
		mean += known->rows[i * known->features + feature] / (double)known->count;
	for (size_t i = 0; i < known->count; i++) {
		double off = known->rows[i * known->features + feature] - mean;

		squares += off * off;
	}
	return squares;
}

static int compare_rows(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	int by_number = (x->number > y->number) - (x->number < y->number);

	return by_number ? by_number : (x->place > y->place) - (x->place < y->place);
}

static void choose_axis(struct known_rows *known)
{
	double most = -1;

	for (size_t i = 0; i < known->features; i++) {
		double its = spread(known, i);

		if (its > most) {
			most = its;
			known->axis = i;
		}
	}
}

int nearest_rows_sort(struct known_rows *known)
{
	size_t width = known->features * sizeof(double);
	CLEANUP_FREE struct sorted_row *sorted = calloc(known->count, sizeof(*sorted));
	CLEANUP_FREE double *rows = calloc(known->count, width);
	CLEANUP_FREE double *values = calloc(known->count, sizeof(*values));
	uint32_t *order = calloc(known->count, sizeof(*order));

	if (!sorted || !rows || !values || !order) {
		free(order);
		return -ENOMEM;
	}
	choose_axis(known);
	for (size_t i = 0; i < known->count; i++)
		sorted[i] = (struct sorted_row){ known->rows[i * known->features + known->axis],
						 (uint32_t)i };
	qsort(sorted, known->count, sizeof(*sorted), compare_rows);
	for (size_t i = 0; i < known->count; i++) {
		memcpy(rows + i * known->features, known->rows + sorted[i].place * known->features,
		       width);
		values[i] = known->values[sorted[i].place];
		order[i] = sorted[i].place;
	}
	memcpy(known->rows, rows, known->count * width);
	memcpy(known->values, values, known->count * sizeof(*values));
	known->order = order;
	return 0;
}
