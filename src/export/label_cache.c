// SPDX-License-Identifier: Apache-2.0
/*
 * Each level has two arrays by slot (living and retired rows). If all rows have the serials of the
 * last view, the view is reused. Otherwise they are looked up one by one: the text of an equal
 * serial is reused, any other is rendered. Equal texts are found through a small open hash table
 * over the texts' hashes, which is filled for each such view, so that no state is synchronised.
 */
#include "export/label_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "export/label_escape.h"

#define AHEAD 8 /* rows whose serials are fetched from memory meanwhile */

enum book_kind { BOOK_LIVING, BOOK_RETIRED, BOOK_COUNT };

struct entry {
	uint64_t serial;
	uint64_t hash; /* of the first text */
	char *text;    /* one behind the other, by enum row_names */
	uint32_t len[NAMES_COUNT];
	uint32_t used; /* 1: serial is valid */
};

struct book {
	struct entry *entries;
	uint32_t size;
	/* For the latest view; it grows with the number of rows. */
	struct row_text *texts[NAMES_COUNT];
	uint32_t *next;
	uint64_t *serials; /* of its rows */
	size_t view_size, view_count;
};

struct label_cache {
	label_form *form;
	unsigned names;
	enum row_names first; /* of them */
	struct book books[LEVEL_COUNT][BOOK_COUNT];
	struct strbuf formed;
	uint32_t *buckets; /* row + 1, 0 empty */
	size_t bucket_count;
};

int label_cache_new(label_form *form, unsigned names, struct label_cache **ret)
{
	struct label_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return -ENOMEM;
	cache->form = form;
	cache->names = names;
	cache->first = (enum row_names)__builtin_ctz(names);
	*ret = cache;
	return 0;
}

static void book_release(struct book *book)
{
	for (uint32_t i = 0; i < book->size; i++)
		free(book->entries[i].text);
	free(book->entries);
	for (enum row_names names = 0; names < NAMES_COUNT; names++)
		free(book->texts[names]);
	free(book->next);
	free(book->serials);
}

void label_cache_free(struct label_cache *cache)
{
	if (!cache)
		return;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		for (enum book_kind kind = 0; kind < BOOK_COUNT; kind++)
			book_release(&cache->books[level][kind]);
	}
	strbuf_release(&cache->formed);
	free(cache->buckets);
	free(cache);
}

static int fill_entry(struct label_cache *cache, struct entry *entry, enum level level,
		      enum book_kind kind, const struct series_labels *labels)
{
	struct strbuf *formed = &cache->formed;
	uint32_t len[NAMES_COUNT] = { 0 };
	struct row_labels row;
	char *text;

	strbuf_reset(formed);
	for (enum row_names names = 0; names < NAMES_COUNT; names++) {
		size_t begin = formed->len;

		if (!(cache->names & NAMES_BIT(names)))
			continue;
		row_labels_get(names, level, kind == BOOK_RETIRED, labels, &row);
		cache->form(formed, &(struct labels){ row.pairs, row.count });
		len[names] = (uint32_t)(formed->len - begin);
	}
	if (strbuf_error(formed) < 0)
		return -ENOMEM;
	text = malloc(formed->len);
	if (!text)
		return -ENOMEM;
	memcpy(text, formed->data, formed->len);
	free(entry->text);
	*entry = (struct entry){
		.serial = labels->serial,
		.hash = HOSTILE_OR(0, label_hash(text, len[cache->first])),
		.text = text,
		.used = 1,
	};
	memcpy(entry->len, len, sizeof(len));
	return 0;
}

static int book_reach_slot(struct book *book, uint32_t slot)
{
	uint32_t size = book->size;
	int r = ARRAY_RESERVE(book->entries, size, slot + 1U);

	for (; book->size < size; book->size++)
		book->entries[book->size] = (struct entry){ 0 };
	return r;
}

static int book_reach_view(struct book *book, unsigned wanted, size_t count)
{
	size_t size = count + count / 4 + 16;
	bool failed = false;

	if (count <= book->view_size && book->view_size > 0)
		return 0;
	/* Their content is not needed after a view: nothing to copy. */
	book->view_size = 0;
	for (enum row_names names = 0; names < NAMES_COUNT; names++) {
		free(book->texts[names]);
		book->texts[names] = NULL;
		if (!(wanted & NAMES_BIT(names)))
			continue;
		book->texts[names] = calloc(size, sizeof(*book->texts[names]));
		failed |= !book->texts[names];
	}
	free(book->next);
	free(book->serials);
	book->next = calloc(size, sizeof(*book->next));
	book->serials = calloc(size, sizeof(*book->serials));
	if (failed || !book->next || !book->serials)
		return -ENOMEM;
	book->view_size = size;
	return 0;
}

static int reach_buckets(struct label_cache *cache, size_t count)
{
	size_t size = 64;

	while (size < count * 2)
		size *= 2;
	if (size > cache->bucket_count) {
		free(cache->buckets);
		cache->bucket_count = 0;
		cache->buckets = malloc(size * sizeof(*cache->buckets));
		if (!cache->buckets)
			return -ENOMEM;
		cache->bucket_count = size;
	}
	memset(cache->buckets, 0, cache->bucket_count * sizeof(*cache->buckets));
	return 0;
}

/* The earlier row with the same first text, or ROW_NONE; then @row is entered. */
static uint32_t find_equal(struct label_cache *cache, const struct book *book, uint32_t row,
			   uint64_t hash)
{
	const struct row_text *texts = book->texts[cache->first];
	size_t mask = cache->bucket_count - 1;

	for (size_t i = (hash ^ hash >> 32) & mask;; i = (i + 1) & mask) {
		uint32_t other = cache->buckets[i] - 1;

		if (!cache->buckets[i]) {
			cache->buckets[i] = row + 1;
			return ROW_NONE;
		}
		if (texts[other].len == texts[row].len &&
		    memcmp(texts[other].text, texts[row].text, texts[row].len) == 0)
			return other;
	}
}

/* True if the view has the same rows as the last one. */
static bool is_as_before(const struct book *book, const struct row_view *view)
{
	if (HOSTILE || view->count != book->view_count)
		return false;
	for (size_t row = 0; row < view->count; row++) {
		if (row + AHEAD < view->count)
			__builtin_prefetch(&view->rows[row + AHEAD].labels->serial);
		if (view->rows[row].labels->serial != book->serials[row])
			return false;
	}
	return true;
}

static void set_texts(const struct book *book, const struct entry *entry, uint32_t row)
{
	const char *text = entry->text;

	for (enum row_names names = 0; names < NAMES_COUNT; names++) {
		if (book->texts[names])
			book->texts[names][row] = (struct row_text){ text, entry->len[names] };
		text += entry->len[names];
	}
}

static void hide_texts(const struct book *book, uint32_t row)
{
	for (enum row_names names = 0; names < NAMES_COUNT; names++) {
		if (book->texts[names])
			book->texts[names][row].text = NULL;
	}
}

static int fill_book(struct label_cache *cache, struct book *book, enum level level,
		     enum book_kind kind, const struct row_view *view)
{
	book->view_count = 0; /* until it is complete */
	if (book_reach_view(book, cache->names, view->count) < 0 ||
	    reach_buckets(cache, view->count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < view->count; row++) {
		const struct series_labels *labels = view->rows[row].labels;
		struct entry *entry;
		uint32_t equal;

		if (book_reach_slot(book, labels->slot) < 0)
			return -ENOMEM;
		entry = &book->entries[labels->slot];
		if (HOSTILE_OR(true, !entry->used || entry->serial != labels->serial) &&
		    fill_entry(cache, entry, level, kind, labels) < 0)
			return -ENOMEM;
		set_texts(book, entry, row);
		book->next[row] = ROW_NONE;
		book->serials[row] = labels->serial;
		equal = find_equal(cache, book, row, entry->hash);
		if (equal != ROW_NONE) {
			book->next[row] = book->next[equal];
			book->next[equal] = row;
			hide_texts(book, row);
		}
	}
	book->view_count = view->count;
	return 0;
}

static int view_book(struct label_cache *cache, struct book *book, enum level level,
		     enum book_kind kind, struct row_view *view)
{
	if (!is_as_before(book, view) && fill_book(cache, book, level, kind, view) < 0)
		return -ENOMEM;
	for (enum row_names names = 0; names < NAMES_COUNT; names++)
		view->texts[names] = book->texts[names];
	view->next = book->next;
	return 0;
}

int label_cache_view(struct label_cache *cache, const struct snapshot *snapshot,
		     struct row_view ret[LEVEL_COUNT][2])
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &snapshot->level[level];
		struct row_view *living = &ret[level][BOOK_LIVING];
		struct row_view *retired = &ret[level][BOOK_RETIRED];

		*living = (struct row_view){ .count = table->count,
					     .rows = table->rows,
					     .values = table->values,
					     .deltas = table->deltas,
					     .columns = snapshot->columns };
		*retired = (struct row_view){ .count = table->retired_count,
					      .rows = table->retired,
					      .values = table->retired_values,
					      .columns = snapshot->columns };
		if (view_book(cache, &cache->books[level][BOOK_LIVING], level, BOOK_LIVING,
			      living) < 0 ||
		    view_book(cache, &cache->books[level][BOOK_RETIRED], level, BOOK_RETIRED,
			      retired) < 0)
			return -ENOMEM;
	}
	return 0;
}
