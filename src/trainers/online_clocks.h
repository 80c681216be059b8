/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to which time rows of each node were taken. Each node has a clock of its own: points of one
 * that come late are not lost because another one is ahead, and what one says of the time changes
 * nothing for the others. Bounded; pure.
 */
#pragma once

#include <stddef.h>

#include "trainers/online_nodes.h"

struct online_clock {
	char name[MODEL_NAME_MAX];
	double until_s;
};

struct online_clocks {
	struct online_clock list[ONLINE_NODES_MAX];
	size_t count;
};

/*
 * The clock of node @name, which begins at @begin_s. Without room it takes the place of the clock
 * that is furthest behind.
 */
struct online_clock *online_clocks_find(struct online_clocks *clocks, const char *name,
					double begin_s);
/* No clock is ahead of @now_s: what was taken in error as of the future is forgotten. */
void online_clocks_limit(struct online_clocks *clocks, double now_s);
/*
 * The begin of the next collection: the clock that is furthest behind, among those that are at most
 * @lag_s behind the first; the others belong to nodes that are away. @none_s without clocks.
 */
double online_clocks_begin(const struct online_clocks *clocks, double lag_s, double none_s);
