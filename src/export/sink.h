/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a format writes the families of catalog.h. The walk calls family(), then point() and
 * rows() as often as the family has any; a sink that writes a head writes it with the first, so
 * that a family without samples leaves no trace. Everything is borrowed for the call.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/num.h"
#include "export/catalog/catalog.h"
#include "export/label_cache.h"

/* Exact where it can be: @integer with the point at @decimals (µJ as joules: 6), else @real. */
struct value {
	bool is_real;
	unsigned decimals;
	uint64_t integer;
	double real;
};

struct histogram {
	const double *bounds;   /* unused ones at the end are 0 */
	const uint64_t *counts; /* one a bound, not cumulative */
	size_t bound_count;
	uint64_t count; /* of all values, those above the last bound included */
	double sum;
};

struct point {
	const struct row_text *row; /* labels before @labels, ready to print; or NULL */
	struct labels labels;
	struct value value;
	const struct histogram *histogram; /* instead of the value; or NULL */
	int64_t created_ms;                /* realtime of birth of a counter or histogram */
};

/*
 * Columns of a table that are added up, mostly one: for each row its own labels (texts of @names),
 * then @end, and its value with the point at @decimals. Cumulative values; or, with @spans_ns, the
 * deltas of each column over its span, in watts.
 */
struct row_block {
	const struct row_view *view;
	enum row_names names;
	const uint32_t *columns;
	uint32_t column_count; /* at least 1 */
	unsigned decimals;
	const uint64_t *spans_ns; /* [column_count], none of them 0; NULL: cumulative values */
	struct labels end[2];     /* [1]: of rows that have ended */
};

struct sink {
	/* In @name the zone has replaced <zone>; it has no suffix. */
	void (*family)(struct sink *sink, const struct family *family, const char *name);
	void (*point)(struct sink *sink, const struct point *point);
	void (*rows)(struct sink *sink, const struct row_block *block); /* the hot path */
};

/* The value of @row and its chain, in the block's unit times 10^-decimals. */
static inline uint64_t row_block_value(const struct row_block *block, uint32_t row)
{
	const struct row_view *view = block->view;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < block->column_count; i++) {
		uint32_t column = block->columns[i];

		/* µJ in ns are kW: × 1e9 makes µW. */
		sum += block->spans_ns ? muldiv_u64(row_view_value(view, view->deltas, row, column),
						    NSEC_PER_SEC, block->spans_ns[i])
				       : row_view_value(view, view->values, row, column);
	}
	return sum;
}
