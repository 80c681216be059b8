// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/exporter_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void exporter_rows_init(struct exporter_rows *rows)
{
	*rows = (struct exporter_rows){ 0 };
	map_init(&rows->map, EXPORTER_ROWS_MAX);
}

void exporter_rows_release(struct exporter_rows *rows)
{
	map_release(&rows->map);
	free(rows->rows);
}

void exporter_rows_begin_page(struct exporter_rows *rows, uint64_t number, double now_s,
			      unsigned load)
{
	rows->page = number;
	rows->now_s = now_s;
	rows->load = load;
}

/*
 * Labels are a set: exporters print them in any order, and not always in the same. With @state, the
 * label of that name has this value instead.
 */
static struct map_key row_key(const struct page_series *series, const char *state)
{
	uint64_t one = hash64_text(HASH64_START, series->name), other = ~one;

	for (size_t i = 0; i < series->label_count; i++) {
		uint64_t label = hash64_text(HASH64_START, series->label_name[i]);
		bool is_other = state && strcmp(series->label_name[i], "state") == 0;
		const char *value = is_other ? state : series->label_value[i];

		label = hash64_text(hash64_byte(label, 1), value);
		one += label;
		other += hash64_text(hash64_byte(label, 2), value);
	}
	return (struct map_key){ .hi = other, .lo = one };
}

/*
 * The row that @series continues under another state: the last page had it, this one does not, and
 * it had no more. NULL: none.
 */
static struct exporter_row *find_former(const struct exporter_rows *rows,
					const struct page_series *series)
{
	const char *state = page_label(series, "state"), *other = NULL;

	if (strcmp(state, "terminated") == 0)
		other = "running";
	else if (strcmp(state, "running") == 0)
		other = "terminated";
	uint32_t index = other ? map_find(&rows->map, row_key(series, other)) : MAP_NONE;
	struct exporter_row *row = index != MAP_NONE ? &rows->rows[index] : NULL;

	return row && row->page + 1 == rows->page && series->value >= row->last ? row : NULL;
}

/*
 * Does a counter that is lower than before begin again? It was missing in between, as when a pid is
 * used again, or it has a later start time, as when another virtual machine gets its name.
 */
static bool begins_again(const struct exporter_rows *rows, const struct exporter_row *row,
			 const struct page_series *series)
{
	return row->page + 1 < rows->page || series->start_s > row->start_s;
}

static struct row_growth follow_row(const struct exporter_rows *rows, struct exporter_row *row,
				    const struct page_series *series, bool is_gauge)
{
	struct row_growth growth = { .before = row->last,
				     .has_changed = fabs(series->value - row->last) > 0 };

	if (!is_gauge && series->value >= row->last) {
		growth.amount = series->value - row->last;
	} else if (!is_gauge && begins_again(rows, row, series)) {
		growth.amount = series->value;
		row->load = rows->load; /* of another process with its pid */
	} else {
		growth.has_fallen = !is_gauge;
	}
	if (growth.amount > 0 && row->last > 0)
		row->grown_s = rows->now_s;
	growth.grown_s = row->grown_s;
	growth.load = row->load;
	row->last = series->value;
	row->page = rows->page;
	row->start_s = series->start_s;
	return growth;
}

/* A new row at the end. 0; -ENOSPC; or -ENOMEM. */
static int add_row(struct exporter_rows *rows, struct map_key key)
{
	if (rows->count == EXPORTER_ROWS_MAX)
		return -ENOSPC;
	if (ARRAY_RESERVE(rows->rows, rows->size, rows->count + 1) < 0 ||
	    map_put(&rows->map, key, rows->count) < 0)
		return -ENOMEM;
	rows->count++;
	return 0;
}

int exporter_rows_take(struct exporter_rows *rows, const struct page_series *series, bool is_gauge,
		       struct row_growth *ret)
{
	struct map_key key = row_key(series, NULL);
	uint32_t index = map_find(&rows->map, key);
	bool is_new = index == MAP_NONE;
	bool was_away = is_new || rows->rows[index].page + 1 < rows->page;
	struct exporter_row *former = was_away && !is_gauge ? find_former(rows, series) : NULL;
	struct exporter_row row = { series->value, rows->page, series->start_s, NAN, rows->load };

	if (former) {
		row = *former;
		former->last = 0; /* from now on it is another owner's */
	}
	int r = is_new ? add_row(rows, key) : 0;
	if (r < 0)
		return r;
	if (is_new)
		index = rows->count - 1;
	if (is_new || former)
		rows->rows[index] = row;
	if (!is_new || former)
		*ret = follow_row(rows, &rows->rows[index], series, is_gauge);
	else
		*ret = (struct row_growth){ .amount = is_gauge ? 0 : series->value,
					    .is_new = true,
					    .grown_s = NAN,
					    .load = rows->load };
	return 0;
}
