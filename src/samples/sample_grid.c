// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

int grid_add_edge(struct sample_grid *grid, int64_t time_us)
{
	if (grid->edge_count && grid->edges_us[grid->edge_count - 1] == time_us)
		return 0;
	if (grid->edge_count == GRID_EDGES_MAX)
		return -ENOSPC;
	if (ARRAY_RESERVE(grid->edges_us, grid->size, grid->edge_count + 1) < 0)
		return -ENOMEM;
	grid->edges_us[grid->edge_count++] = time_us;
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

	return first < second ? -1 : first > second;
}

void grid_finish(struct sample_grid *grid)
{
	size_t count = 0;

	if (grid->edge_count)
		qsort(grid->edges_us, grid->edge_count, sizeof(*grid->edges_us), compare);
	for (size_t i = 0; i < grid->edge_count; i++) {
		if (!count || grid->edges_us[i] != grid->edges_us[count - 1])
			grid->edges_us[count++] = grid->edges_us[i];
	}
	grid->edge_count = count;
	grid->at = 0;
}

void grid_release(struct sample_grid *grid)
{
	free(grid->edges_us);
	*grid = (struct sample_grid){ 0 };
}

int64_t grid_typical_us(const struct sample_grid *grid)
{
	size_t count = grid_steps(grid);
	CLEANUP_FREE int64_t *steps = count ? calloc(count, sizeof(*steps)) : NULL;

	if (!steps)
		return 0;
	for (size_t i = 0; i < count; i++)
		steps[i] = grid_step_us(grid, i);
	qsort(steps, count, sizeof(*steps), compare);
	return steps[count / 2];
}

/* The step that ends after @time_us, or the number of steps. */
static size_t find_step(struct sample_grid *grid, int64_t time_us)
{
	size_t low = 0, high = grid_steps(grid), at = grid->at;

	/* Amounts of a series come in order: the one after the last is tried first. */
	for (size_t i = at; i < high && i < at + 2; i++) {
		if (grid->edges_us[i] <= time_us && time_us < grid->edges_us[i + 1])
			return i;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (grid->edges_us[middle + 1] <= time_us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void grid_spread(struct sample_grid *grid, int64_t from_us, int64_t to_us, double amount,
		 double *amounts, double *covered)
{
	size_t steps = grid_steps(grid);
	size_t step = find_step(grid, from_us);
	double length_us = (double)(to_us - from_us);

	for (; step < steps && grid->edges_us[step] < to_us; step++) {
		int64_t begin_us = grid->edges_us[step] > from_us ? grid->edges_us[step] : from_us;
		int64_t end_us =
			grid->edges_us[step + 1] < to_us ? grid->edges_us[step + 1] : to_us;
		double part_us = (double)(end_us - begin_us);

		amounts[step] += amount * (part_us / length_us);
		if (covered)
			covered[step] += part_us / (double)grid_step_us(grid, step);
		grid->at = step;
	}
}

/* Parts @first to @last - 1 of the cover become the one from @from_us to @to_us. */
static void merge(struct grid_cover *cover, size_t first, size_t last, int64_t from_us,
		  int64_t to_us)
{
	size_t behind = cover->count - last;

	memmove(&cover->from_us[first + 1], &cover->from_us[last],
		behind * sizeof(cover->from_us[0]));
	memmove(&cover->to_us[first + 1], &cover->to_us[last], behind * sizeof(cover->to_us[0]));
	cover->from_us[first] = from_us;
	cover->to_us[first] = to_us;
	cover->count = first + 1 + behind;
}

size_t grid_cover_add(struct grid_cover *cover, int64_t from_us, int64_t to_us,
		      struct grid_part ret[static COVER_PARTS_MAX + 1])
{
	size_t first = 0, last, count = 0;
	int64_t at_us = from_us, begin_us = from_us, end_us = to_us;

	while (first < cover->count && cover->to_us[first] < from_us)
		first++;
	for (last = first; last < cover->count && cover->from_us[last] <= to_us; last++) {
		if (cover->from_us[last] > at_us)
			ret[count++] = (struct grid_part){ at_us, cover->from_us[last] };
		if (cover->to_us[last] > at_us)
			at_us = cover->to_us[last];
		if (cover->from_us[last] < begin_us)
			begin_us = cover->from_us[last];
		if (cover->to_us[last] > end_us)
			end_us = cover->to_us[last];
	}
	if (first == last && cover->count == COVER_PARTS_MAX)
		return 0;
	if (at_us < to_us)
		ret[count++] = (struct grid_part){ at_us, to_us };
	merge(cover, first, last, begin_us, end_us);
	return count;
}
