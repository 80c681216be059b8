// SPDX-License-Identifier: Apache-2.0
/*
 * Pods, VMs and namespaces. Their values are the ledger's as they stand, so that all there is to do
 * is to give each a series when it is new, and to move its value to a retired row when it has been
 * without a container for long enough. A pod whose container restarts, or whose ended container is
 * retired, knows nothing of it.
 */
#include <errno.h>

#include "base/array.h"
#include "base/macro.h"
#include "snapshot/publisher_parts.h"

static int reserve(struct publisher *publisher, enum level group)
{
	struct group_view *view = &publisher->groups[group];
	uint32_t slots = view->slots;
	int r = ARRAY_RESERVE(view->series, slots, ledger_slots(publisher->ledger, group));

	for (; view->slots < slots; view->slots++)
		view->series[view->slots] = (struct group_series){ 0 };
	return r;
}

int groups_reserve(struct publisher *publisher)
{
	int r = 0;

	for (enum level group = LEVEL_POD; group < LEVEL_COUNT && r == 0; group++)
		r = reserve(publisher, group);
	return r;
}

void groups_release(struct publisher *publisher)
{
	for (size_t group = 0; group < LEVEL_COUNT; group++)
		free(publisher->groups[group].series);
}

static int admit(struct publisher *publisher, enum level group, uint32_t row,
		 const struct moment *at)
{
	struct group_view *view = &publisher->groups[group];
	const struct ledger_group *named = ledger_group_at(publisher->ledger, group, row);
	struct group_series series = { .published = true, .age = age_of_birth(at) };

	if (group == LEVEL_POD &&
	    namespace_find(publisher, named->names->text[LABEL_NAMESPACE], &series.ns) < 0)
		return -ENOMEM;
	series.labels = label_pool_take(publisher->labels, named->names, named->facts);
	if (!series.labels)
		return -ENOMEM;
	view->series[row] = series;
	view->published++;
	return 0;
}

/*
 * Facts may come late, or change: what is known now has other labels, the old ones go with the
 * snapshots that name them. Without memory the old ones stay until the next interval.
 */
static void follow_facts(struct publisher *publisher, struct group_series *series,
			 const struct ledger_group *row)
{
	struct series_labels *labels;

	if (series->labels->facts == row->facts)
		return;
	labels = label_pool_take(publisher->labels, row->names, row->facts);
	if (!labels)
		return;
	drop_labels(publisher, series->labels);
	series->labels = labels;
}

int groups_admit(struct publisher *publisher, const struct moment *at)
{
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++) {
		uint32_t slots = ledger_slots(publisher->ledger, group);

		for (uint32_t i = 0; i < slots; i++) {
			const struct ledger_group *row =
				ledger_group_at(publisher->ledger, group, i);
			struct group_series *series = &publisher->groups[group].series[i];

			if (!row->row.used)
				continue;
			if (series->published)
				follow_facts(publisher, series, row);
			else if (admit(publisher, group, i, at) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static void retire(struct publisher *publisher, enum level group, uint32_t row,
		   const struct moment *at)
{
	struct group_view *view = &publisher->groups[group];
	struct group_series *series = &view->series[row];

	namespace_retire(publisher, series->ns, group, ledger_values(publisher->ledger, group, row),
			 at);
	drop_labels(publisher, series->labels);
	*series = (struct group_series){ 0 };
	view->published--;
	ledger_release(publisher->ledger, group, row);
}

static void expire(struct publisher *publisher, enum level group, const struct moment *at)
{
	struct group_view *view = &publisher->groups[group];
	uint32_t slots = ledger_slots(publisher->ledger, group);
	bool crowded = ledger_is_crowded(publisher->ledger, group);

	for (uint32_t i = 1; i < slots; i++) { /* row 0, "other", stays */
		const struct ledger_group *row = ledger_group_at(publisher->ledger, group, i);
		const struct group_series *series = &view->series[i];

		if (row->row.used && series->published && row->row.members == 0 &&
		    !row->row.touched &&
		    was_kept(publisher, row->last_active_ns, &series->age, at, crowded,
			     &view->folded))
			retire(publisher, group, i, at);
	}
}

void groups_expire(struct publisher *publisher, const struct moment *at)
{
	for (enum level group = LEVEL_POD; group < LEVEL_COUNT; group++)
		expire(publisher, group, at);
}
