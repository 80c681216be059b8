// SPDX-License-Identifier: Apache-2.0
#include "trainers/online_clocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct online_clock *furthest_behind(struct online_clocks *clocks)
{
	struct online_clock *found = &clocks->list[0];

	for (size_t i = 1; i < clocks->count; i++)
		if (clocks->list[i].until_s < found->until_s)
			found = &clocks->list[i];
	return found;
}

struct online_clock *online_clocks_find(struct online_clocks *clocks, const char *name,
					double begin_s)
{
	struct online_clock *clock;

	for (size_t i = 0; i < clocks->count; i++)
		if (strcmp(clocks->list[i].name, name) == 0)
			return &clocks->list[i];
	clock = clocks->count < ONLINE_NODES_MAX ? &clocks->list[clocks->count++]
						 : furthest_behind(clocks);
	(void)snprintf(clock->name, sizeof(clock->name), "%s", name);
	clock->until_s = begin_s;
	return clock;
}

void online_clocks_limit(struct online_clocks *clocks, double now_s)
{
	for (size_t i = 0; i < clocks->count; i++)
		clocks->list[i].until_s = fmin(clocks->list[i].until_s, now_s);
}

double online_clocks_begin(const struct online_clocks *clocks, double lag_s, double none_s)
{
	double first_s = 0, begin_s;

	for (size_t i = 0; i < clocks->count; i++)
		first_s = fmax(first_s, clocks->list[i].until_s);
	begin_s = clocks->count ? first_s : none_s;
	for (size_t i = 0; i < clocks->count; i++)
		if (clocks->list[i].until_s >= first_s - lag_s)
			begin_s = fmin(begin_s, clocks->list[i].until_s);
	return begin_s;
}
