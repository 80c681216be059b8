// SPDX-License-Identifier: Apache-2.0
/*
 * Containers: each has a series of its own, an "other" for its processes without one, and perhaps a
 * retired row. When a container goes, all that is left of it is in two retired rows of its
 * namespace. One that waits for its names has none of these: what it uses is pending.
 *
 * Everything a container will ever need (its labels, its namespace) is made when it is admitted, so
 * that retiring cannot fail.
 */
#include <errno.h>

#include "base/array.h"
#include "base/macro.h"
#include "snapshot/publisher_parts.h"

void containers_release(struct container_view *view)
{
	free(view->series);
	value_table_release(&view->elsewhere);
	value_table_release(&view->retired);
}

int containers_reserve(struct publisher *publisher)
{
	struct container_view *view = &publisher->containers;
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_CONTAINER);

	if (slots <= view->slots)
		return 0;
	slots += slots / 2;
	if (value_table_reserve(&view->elsewhere, slots) < 0 ||
	    value_table_reserve(&view->retired, slots) < 0 || ARRAY_RESIZE(view->series, slots) < 0)
		return -ENOMEM;
	for (uint32_t i = view->slots; i < slots; i++) {
		view->series[i] = (struct container_series){ 0 };
		value_table_clear(&view->elsewhere, i);
		value_table_clear(&view->retired, i);
	}
	view->slots = slots;
	return 0;
}

static void drop_all_labels(struct publisher *publisher, const struct container_series *series)
{
	drop_labels(publisher, series->labels);
	drop_labels(publisher, series->other_labels);
	drop_labels(publisher, series->retired_labels);
}

static int admit(struct publisher *publisher, uint32_t container, const struct moment *at)
{
	const struct ledger_container *row = ledger_container_at(publisher->ledger, container);
	struct container_series series = { .published = true, .age = age_of_birth(at) };

	if (namespace_find(publisher, row->names->text[LABEL_NAMESPACE], &series.ns) < 0)
		return -ENOMEM;
	series.labels = label_pool_take(publisher->labels, row->names, NULL);
	series.other_labels = label_pool_take(publisher->labels, row->names, NULL);
	series.retired_labels = label_pool_take(publisher->labels, row->names, NULL);
	if (!series.labels || !series.other_labels || !series.retired_labels) {
		drop_all_labels(publisher, &series);
		return -ENOMEM;
	}
	(void)snprintf(series.other_labels->command, sizeof(series.other_labels->command), "other");
	publisher->containers.series[container] = series;
	publisher->containers.published++;
	return 0;
}

int containers_admit(struct publisher *publisher, const struct moment *at)
{
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_CONTAINER);

	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(publisher->ledger, i);

		if (!row->row.used || row->waiting || publisher->containers.series[i].published)
			continue;
		if (admit(publisher, i, at) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Of an "other" the processes go to the namespace at once: its retired row would have the labels of
 * the namespace's.
 */
void container_retire_process(struct publisher *publisher, uint32_t container,
			      const uint64_t *values, const struct moment *at)
{
	struct container_series *series = &publisher->containers.series[container];

	values_add(value_table_row(&publisher->containers.retired, container), values,
		   publisher->columns);
	if (ledger_container_at(publisher->ledger, container)->is_other) {
		namespace_retire(publisher, series->ns, LEVEL_PROCESS, values, at);
	} else if (!series->has_retired) {
		series->has_retired = true;
		series->retired_created_ms = at->realtime_ms;
	}
}

/*
 * No process row is left: elsewhere is what is retired, so that other + retired is the container's
 * total.
 */
void container_retire(struct publisher *publisher, uint32_t container, const struct moment *at)
{
	struct container_view *view = &publisher->containers;
	struct container_series *series = &view->series[container];
	const uint64_t *total = ledger_values(publisher->ledger, LEVEL_CONTAINER, container);
	uint64_t *retired = value_table_row(&view->retired, container);

	namespace_retire(publisher, series->ns, LEVEL_CONTAINER, total, at);
	if (ledger_container_at(publisher->ledger, container)->is_other)
		values_subtract_from(retired, total, publisher->columns);
	else
		memcpy(retired, total, publisher->columns * sizeof(*retired));
	namespace_retire(publisher, series->ns, LEVEL_PROCESS, retired, at);
	drop_all_labels(publisher, series);
	*series = (struct container_series){ 0 };
	value_table_clear(&view->elsewhere, container);
	value_table_clear(&view->retired, container);
	view->published--;
	ledger_release(publisher->ledger, LEVEL_CONTAINER, container);
}

/*
 * Where rows are scarce, the ended ones are kept only until their last value could be scraped; an
 * "other" takes no other's row, nor does one whose names have changed.
 */
void containers_expire(struct publisher *publisher, const struct moment *at)
{
	uint32_t slots = ledger_slots(publisher->ledger, LEVEL_CONTAINER);
	bool crowded = ledger_is_crowded(publisher->ledger, LEVEL_CONTAINER);

	for (uint32_t i = 1; i < slots; i++) { /* row 0, the overflow owner, stays */
		const struct ledger_container *row = ledger_container_at(publisher->ledger, i);
		const struct container_series *series = &publisher->containers.series[i];

		if (row->row.used && series->published && row->row.members == 0 && !row->is_there &&
		    !row->row.touched &&
		    was_kept(publisher, row->last_active_ns, &series->age, at,
			     crowded && !row->is_other && !row->replaced,
			     &publisher->containers.folded))
			container_retire(publisher, i, at);
	}
}
