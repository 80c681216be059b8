/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of time that amounts are spread over. Each counter has its own readings: its increase from
 * one reading to the next is spread evenly over that time, and each step of the grid gets the part
 * that falls into it. So sums are kept, whatever the steps are. Pure.
 *
 * Step i is from edges[i] to edges[i + 1].
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GRID_EDGES_MAX  (32U << 20)
#define COVER_PARTS_MAX 32

struct sample_grid {
	int64_t *edges_us; /* ascending */
	size_t edge_count, size;
	size_t at; /* the step that was found last */
};

/* Adds an edge in any order: 0, -ENOMEM, or -ENOSPC at the limit. */
int grid_add_edge(struct sample_grid *grid, int64_t time_us);
/* Sorts the edges and leaves out repeated ones; before any amount. */
void grid_finish(struct sample_grid *grid);
void grid_release(struct sample_grid *grid);
/* Number of steps. */
static inline size_t grid_steps(const struct sample_grid *grid)
{
	return grid->edge_count > 1 ? grid->edge_count - 1 : 0;
}
static inline int64_t grid_step_us(const struct sample_grid *grid, size_t step)
{
	return grid->edges_us[step + 1] - grid->edges_us[step];
}
/* The median of all steps; 0 without any. */
int64_t grid_typical_us(const struct sample_grid *grid);
/*
 * Adds @amount, which flowed from @from_us to @to_us (later), to @amounts, one a step, and the part
 * of each step that this covers, 0..1, to @covered (NULL: not counted). Parts outside the grid are
 * dropped.
 */
void grid_spread(struct sample_grid *grid, int64_t from_us, int64_t to_us, double amount,
		 double *amounts, double *covered);

/* Times that were counted of one thing, so that nothing is counted twice. All zero: none. */
struct grid_cover {
	int64_t from_us[COVER_PARTS_MAX], to_us[COVER_PARTS_MAX]; /* ascending, disjoint */
	size_t count;
};

struct grid_part {
	int64_t from_us, to_us;
};

/*
 * Counts a time, and returns the parts of it that were not counted before: their number, at most
 * COVER_PARTS_MAX + 1; 0 if the cover would need more parts than it has room for.
 */
size_t grid_cover_add(struct grid_cover *cover, int64_t from_us, int64_t to_us,
		      struct grid_part ret[static COVER_PARTS_MAX + 1]);
