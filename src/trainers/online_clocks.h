/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time up to which each node's rows were taken. Each node has its own clock: late points of a
 * node are not lost because another node is ahead, and wrong times of a node do not affect the
 * others. Bounded; pure.
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
/* Sets clocks that are ahead of @now_s to it, such as after wrong times. */
void online_clocks_limit(struct online_clocks *clocks, double now_s);
/*
 * The begin of the next collection: the earliest clock among those that are at most @lag_s earlier
 * than the latest; the others belong to nodes that are gone. @none_s without clocks.
 */
double online_clocks_begin(const struct online_clocks *clocks, double lag_s, double none_s);
