// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/exporter_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

void exporter_rows_begin_page(struct exporter_rows *rows, uint64_t number, double now_s)
{
	rows->page = number;
	rows->now_s = now_s;
}

/* Labels are a set: exporters print them in any order, and not always in the same. */
static struct map_key row_key(const struct page_series *series)
{
	uint64_t one = hash64_text(HASH64_START, series->name), other = ~one;

	for (size_t i = 0; i < series->label_count; i++) {
		uint64_t label = hash64_text(HASH64_START, series->label_name[i]);

		label = hash64_text(hash64_byte(label, 1), series->label_value[i]);
		one += label;
		other += hash64_text(hash64_byte(label, 2), series->label_value[i]);
	}
	return (struct map_key){ .hi = other, .lo = one };
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

	if (!is_gauge && series->value >= row->last)
		growth.amount = series->value - row->last;
	else if (!is_gauge && begins_again(rows, row, series))
		growth.amount = series->value;
	else
		growth.has_fallen = !is_gauge;
	if (growth.amount > 0 && row->last > 0)
		row->grown_s = rows->now_s;
	growth.grown_s = row->grown_s;
	row->last = series->value;
	row->page = rows->page;
	row->start_s = series->start_s;
	return growth;
}

int exporter_rows_take(struct exporter_rows *rows, const struct page_series *series, bool is_gauge,
		       struct row_growth *ret)
{
	struct map_key key = row_key(series);
	uint32_t index = map_find(&rows->map, key);

	if (index != MAP_NONE) {
		*ret = follow_row(rows, &rows->rows[index], series, is_gauge);
		return 0;
	}
	if (rows->count == EXPORTER_ROWS_MAX)
		return -ENOSPC;
	if (ARRAY_RESERVE(rows->rows, rows->size, rows->count + 1) < 0 ||
	    map_put(&rows->map, key, rows->count) < 0)
		return -ENOMEM;
	rows->rows[rows->count++] =
		(struct exporter_row){ series->value, rows->page, series->start_s, NAN };
	*ret = (struct row_growth){ .amount = is_gauge ? 0 : series->value,
				    .is_new = true,
				    .grown_s = NAN };
	return 0;
}
