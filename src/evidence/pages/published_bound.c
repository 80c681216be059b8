// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/published_bound.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define METRIC "kepler_node_model_error_watts"
#define W_MOST 1e9

static struct published_bound *take_zone(struct published_bounds *bounds, const char *zone)
{
	for (size_t i = 0; i < bounds->count; i++)
		if (strcmp(bounds->items[i].zone, zone) == 0)
			return &bounds->items[i];
	if (bounds->count == PUBLISHED_BOUNDS_MAX || !*zone || strlen(zone) >= ENERGY_ZONE_MAX)
		return NULL;
	struct published_bound *bound = &bounds->items[bounds->count++];
	*bound = (struct published_bound){ .is_there = false };
	(void)snprintf(bound->zone, sizeof(bound->zone), "%s", zone);
	return bound;
}

void published_bounds_begin(struct published_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++) {
		bounds->items[i].page_w = 0;
		bounds->items[i].is_there = false;
	}
}

void published_bounds_take(struct published_bounds *bounds, const struct page_series *series)
{
	if (strcmp(series->name, METRIC) != 0 || !(series->value >= 0 && series->value < W_MOST))
		return;
	struct published_bound *bound = take_zone(bounds, page_label(series, "zone"));
	if (!bound)
		return;
	bound->page_w += series->value;
	bound->is_there = true;
}

int published_bounds_end(struct published_bounds *bounds, double time_s)
{
	int r = 0;

	for (size_t i = 0; i < bounds->count && r == 0; i++) {
		struct published_bound *bound = &bounds->items[i];

		if (!bound->is_there)
			continue;
		if (!bound->series)
			bound->series = series_new(METRIC, "W");
		r = bound->series ? series_add_gauge(bound->series, time_s, bound->page_w)
				  : -ENOMEM;
	}
	return r;
}

void published_bounds_finish(struct published_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++)
		if (bounds->items[i].series)
			series_finish(bounds->items[i].series);
}

void published_bounds_release(struct published_bounds *bounds)
{
	for (size_t i = 0; i < bounds->count; i++)
		series_free(bounds->items[i].series);
	bounds->count = 0;
}
