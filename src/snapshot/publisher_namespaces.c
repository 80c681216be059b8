// SPDX-License-Identifier: Apache-2.0
/*
 * Where that goes which is no longer shown: a retired row for each namespace and level. They are
 * counters, so a namespace is never forgotten; they are few, so they are searched in order.
 *
 * Namespace 0 has no name. It takes what VMs and whole namespaces leave, and containers and pods of
 * namespaces for which there was no room.
 */
#include <errno.h>

#include "base/array.h"
#include "base/macro.h"
#include "snapshot/publisher_parts.h"

int namespaces_init(struct publisher *publisher)
{
	uint32_t unnamed;

	for (size_t level = 0; level < LEVEL_COUNT; level++)
		value_table_init(&publisher->namespaces.retired[level], publisher->columns);
	return namespace_find(publisher, "", &unnamed);
}

void namespaces_release(struct namespace_view *view)
{
	free(view->series);
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		value_table_release(&view->retired[level]);
}

static int reserve(struct namespace_view *view)
{
	if (ARRAY_RESIZE(view->series, view->count + 1U) < 0)
		return -ENOMEM;
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		if (value_table_reserve(&view->retired[level], view->count + 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int make_labels(struct publisher *publisher, const char *name,
		       struct series_labels *labels[LEVEL_COUNT])
{
	const struct owner_names text = { .text = { [LABEL_NAMESPACE] = name } };
	const struct owner_names *names =
		owner_names_intern(ledger_names(publisher->ledger), &text);
	int r = names ? 0 : -ENOMEM;

	for (enum level level = 0; r == 0 && level < LEVEL_COUNT; level++) {
		labels[level] = label_pool_take(publisher->labels, names, NULL);
		r = labels[level] ? 0 : -ENOMEM;
	}
	owner_names_unref(names);
	return r;
}

static int add(struct publisher *publisher, const char *name, uint32_t *ret)
{
	struct namespace_view *view = &publisher->namespaces;
	struct namespace_series series = { 0 };

	if (reserve(view) < 0)
		return -ENOMEM;
	if (make_labels(publisher, name, series.labels) < 0) {
		for (size_t level = 0; level < LEVEL_COUNT; level++)
			drop_labels(publisher, series.labels[level]);
		return -ENOMEM;
	}
	view->series[view->count] = series;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		value_table_clear(&view->retired[level], view->count);
	*ret = view->count++;
	return 0;
}

int namespace_find(struct publisher *publisher, const char *name, uint32_t *ret)
{
	struct namespace_view *view = &publisher->namespaces;

	for (uint32_t i = 0; i < view->count; i++) {
		const struct owner_names *names = view->series[i].labels[LEVEL_CONTAINER]->names;

		if (strcmp(names->text[LABEL_NAMESPACE], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	if (view->count < NAMESPACES_MAX)
		return add(publisher, name, ret);
	*ret = 0;
	return 0;
}

void namespace_retire(struct publisher *publisher, uint32_t ns, enum level level,
		      const uint64_t *values, const struct moment *at)
{
	struct namespace_view *view = &publisher->namespaces;
	struct namespace_series *series = &view->series[ns];

	if (!series->has_retired[level]) {
		series->has_retired[level] = true;
		series->created_ms[level] = at->realtime_ms;
	}
	values_add(value_table_row(&view->retired[level], ns), values, publisher->columns);
}
