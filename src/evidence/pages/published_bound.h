/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds that an exporter publishes of its own estimates, by zone:
 * kepler_node_model_error_watts, within which nine of ten estimates are. The bounds of one zone's
 * packages are summed, because one model errs alike on each of them.
 */
#pragma once

#include "evidence/pages/energy_metric.h"
#include "judging/series.h"

#define PUBLISHED_BOUNDS_MAX 16
#define PUBLISHED_BOUND_PART 0.9 /* of all estimates are within it */

struct published_bound {
	char zone[ENERGY_ZONE_MAX];
	double page_w; /* on the page that is read */
	bool is_there;
	struct series *series; /* W */
};

struct published_bounds {
	struct published_bound items[PUBLISHED_BOUNDS_MAX];
	size_t count;
};

/* Before a page, for each of its series, and after it with the time of its numbers. */
void published_bounds_begin(struct published_bounds *bounds);
void published_bounds_take(struct published_bounds *bounds, const struct page_series *series);
/* 0 or -ENOMEM. */
int published_bounds_end(struct published_bounds *bounds, double time_s);
/* Once, after the last page. */
void published_bounds_finish(struct published_bounds *bounds);
void published_bounds_release(struct published_bounds *bounds);
