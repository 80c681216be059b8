// SPDX-License-Identifier: Apache-2.0
/*
 * Containers: each has a series of its own, an "other" for its processes without one, and perhaps a
 * retired row. When a container goes, all that is left of it is in two retired rows of its
 * namespace.
 *
 * Everything a container will ever need (its labels, its namespace) is made when it is admitted, so
 * that retiring cannot fail.
 */
#include <errno.h>

#include "base/macro.h"
#include "snapshot/publisher_parts.h"

void containers_release(struct container_view *view)
{
	free(view->series);
	value_table_release(&view->elsewhere);
	value_table_release(&view->retired);
	free(view->namespaces);
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		value_table_release(&view->namespace_retired[level]);
}

static void name_as_container(struct series_labels *labels, const struct series_labels *container)
{
	labels->container = container;
	labels->container_id = container->container_id;
	labels->container_name = container->container_name;
	labels->container_namespace = container->container_namespace;
	labels->pod_name = container->pod_name;
}

static int reserve_namespace(struct container_view *view)
{
	struct namespace_series *grown =
		reallocarray(view->namespaces, view->namespace_count + 1U, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	view->namespaces = grown;
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		if (value_table_reserve(&view->namespace_retired[level],
					view->namespace_count + 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_namespace(struct publisher *publisher, const char *name, uint32_t *ret)
{
	struct container_view *view = &publisher->containers;
	const struct ledger_owner names = { "", "", name, "" };
	struct namespace_series series = { 0 };

	if (reserve_namespace(view) < 0)
		return -ENOMEM;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		series.labels[level] = label_pool_take(publisher->labels);
	if (!series.labels[LEVEL_PROCESS] || !series.labels[LEVEL_CONTAINER] ||
	    label_pool_name(series.labels[LEVEL_CONTAINER], &names) < 0) {
		drop_labels(publisher, series.labels[LEVEL_PROCESS]);
		drop_labels(publisher, series.labels[LEVEL_CONTAINER]);
		return -ENOMEM;
	}
	name_as_container(series.labels[LEVEL_PROCESS], series.labels[LEVEL_CONTAINER]);
	view->namespaces[view->namespace_count] = series;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		value_table_clear(&view->namespace_retired[level], view->namespace_count);
	*ret = view->namespace_count++;
	return 0;
}

static int find_namespace(struct publisher *publisher, const char *name, uint32_t *ret)
{
	struct container_view *view = &publisher->containers;

	for (uint32_t i = 0; i < view->namespace_count; i++) {
		if (strcmp(view->namespaces[i].labels[LEVEL_CONTAINER]->container_namespace,
			   name) == 0) {
			*ret = i;
			return 0;
		}
	}
	if (view->namespace_count < NAMESPACES_MAX)
		return add_namespace(publisher, name, ret);
	*ret = 0;
	return 0;
}

int containers_init(struct publisher *publisher)
{
	uint32_t unnamed;

	return add_namespace(publisher, "", &unnamed);
}

int containers_reserve(struct publisher *publisher)
{
	struct container_view *view = &publisher->containers;
	uint32_t slots = ledger_container_slots(publisher->ledger);
	struct container_series *grown;

	if (slots <= view->slots)
		return 0;
	slots += slots / 2;
	if (value_table_reserve(&view->elsewhere, slots) < 0 ||
	    value_table_reserve(&view->retired, slots) < 0)
		return -ENOMEM;
	grown = reallocarray(view->series, slots, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	view->series = grown;
	for (uint32_t i = view->slots; i < slots; i++) {
		grown[i] = (struct container_series){ 0 };
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
	const struct ledger_owner names = { row->container_id, row->container_name,
					    row->container_namespace, row->pod_name };
	struct container_series series = { .published = true, .age = age_of_birth(at) };

	if (find_namespace(publisher, row->container_namespace, &series.ns) < 0)
		return -ENOMEM;
	series.labels = label_pool_take(publisher->labels);
	series.other_labels = label_pool_take(publisher->labels);
	series.retired_labels = label_pool_take(publisher->labels);
	if (!series.labels || !series.other_labels || !series.retired_labels ||
	    label_pool_name(series.labels, &names) < 0) {
		drop_all_labels(publisher, &series);
		return -ENOMEM;
	}
	name_as_container(series.other_labels, series.labels);
	(void)snprintf(series.other_labels->command, sizeof(series.other_labels->command), "other");
	name_as_container(series.retired_labels, series.labels);
	publisher->containers.series[container] = series;
	publisher->containers.published++;
	return 0;
}

int containers_admit(struct publisher *publisher, const struct moment *at)
{
	uint32_t slots = ledger_container_slots(publisher->ledger);

	for (uint32_t i = 0; i < slots; i++) {
		if (!ledger_container_at(publisher->ledger, i)->used ||
		    publisher->containers.series[i].published)
			continue;
		if (admit(publisher, i, at) < 0)
			return -ENOMEM;
	}
	return 0;
}

void container_retire_process(struct publisher *publisher, uint32_t container,
			      const uint64_t *values, const struct moment *at)
{
	struct container_series *series = &publisher->containers.series[container];

	values_add(value_table_row(&publisher->containers.retired, container), values,
		   publisher->columns);
	if (!series->has_retired) {
		series->has_retired = true;
		series->retired_created_ms = at->realtime_ms;
	}
}

static uint64_t *namespace_row(struct publisher *publisher, uint32_t ns, enum snapshot_level level,
			       const struct moment *at)
{
	struct container_view *view = &publisher->containers;

	if (!view->namespaces[ns].has_retired[level]) {
		view->namespaces[ns].has_retired[level] = true;
		view->namespaces[ns].created_ms[level] = at->realtime_ms;
	}
	return value_table_row(&view->namespace_retired[level], ns);
}

/*
 * No process row is left: elsewhere is what is retired, so that other + retired is the container's
 * total.
 */
static void retire(struct publisher *publisher, uint32_t container, const struct moment *at)
{
	struct container_view *view = &publisher->containers;
	struct container_series *series = &view->series[container];
	const uint64_t *total = ledger_container_values(publisher->ledger, container);

	for (enum snapshot_level level = LEVEL_PROCESS; level < LEVEL_COUNT; level++)
		values_add(namespace_row(publisher, series->ns, level, at), total,
			   publisher->columns);
	drop_all_labels(publisher, series);
	*series = (struct container_series){ 0 };
	value_table_clear(&view->elsewhere, container);
	value_table_clear(&view->retired, container);
	view->published--;
	ledger_release_container(publisher->ledger, container);
}

void containers_expire(struct publisher *publisher, const struct moment *at)
{
	uint32_t slots = ledger_container_slots(publisher->ledger);
	uint64_t keep_ns = publisher->options.keep_ns;

	for (uint32_t i = 1; i < slots; i++) { /* row 0, the overflow owner, stays */
		const struct ledger_container *row = ledger_container_at(publisher->ledger, i);
		const struct container_series *series = &publisher->containers.series[i];

		if (row->used && series->published && series->age.settled && row->processes == 0 &&
		    !row->touched && has_passed(row->last_active_ns, at->now_ns, keep_ns) &&
		    has_passed(series->age.since_ns, at->now_ns, keep_ns))
			retire(publisher, i, at);
	}
}
