/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of each row in the form of one format, made when the row is first seen and cached
 * under its slot until the serial changes.
 *
 * A row_view is one table's rows in one snapshot with these texts. Two rows whose texts are equal
 * (a pid that the same command used again while the ended process is kept) would make a response
 * that Prometheus refuses: the later one is chained to the first, and a format prints the first
 * with the sum of its chain.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "export/row_labels.h"
#include "snapshot/snapshot.h"

#define ROW_NONE UINT32_MAX

/* The labels that do not depend on the family, in the format's form; not terminated. */
struct row_text {
	const char *text;
	uint32_t len;
};

struct row_view {
	size_t count;
	const struct snapshot_row *rows;
	const uint64_t *values;
	const uint64_t *deltas; /* NULL: retired rows have none */
	uint32_t columns;
	/*
	 * [count]; borrowed from the cache until its next call. A NULL text: the row is chained to
	 * an earlier one.
	 */
	const struct row_text *texts[NAMES_COUNT]; /* NULL: names that the cache does not have */
	const uint32_t *next; /* chain of rows with equal labels, ROW_NONE at the end */
};

/* Appends labels in the form of a format. */
typedef void label_form(struct strbuf *out, const struct labels *labels);

#define NAMES_BIT(names) (1U << (unsigned)(names))
#define NAMES_OF_PAGES   (NAMES_BIT(NAMES_CLASSIC) | NAMES_BIT(NAMES_CURRENT))

struct label_cache;
/* @names: NAMES_BIT() of those that the texts are made of, at least one. 0 or -ENOMEM. */
int label_cache_new(label_form *form, unsigned names, struct label_cache **ret);
void label_cache_free(struct label_cache *cache);

/* All levels, [0] living and [1] retired rows. 0 or -ENOMEM. */
int label_cache_view(struct label_cache *cache, const struct snapshot *snapshot,
		     struct row_view ret[LEVEL_COUNT][2]);

/* The sum of a column over @row and its chain. */
static inline uint64_t row_view_value(const struct row_view *view, const uint64_t *cells,
				      uint32_t row, uint32_t column)
{
	uint64_t sum = cells[(size_t)row * view->columns + column];

	for (row = view->next[row]; row != ROW_NONE; row = view->next[row])
		sum += cells[(size_t)row * view->columns + column];
	return sum;
}
