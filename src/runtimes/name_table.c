// SPDX-License-Identifier: Apache-2.0
/*
 * Rows are packed in an array and found through a map by a 128-bit digest of the id. Two ids with
 * the same digest would replace each other, which costs only a name. Only a digest of the names is
 * kept: the directory has them.
 */
#include "runtimes/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "runtimes/state_dir.h"

struct name_row {
	char id[CONTAINER_ID_MAX + 1];
	uint64_t stamp;
	uint64_t digest; /* of the names that the directory has */
	uint32_t scan;   /* the last one that saw it */
	unsigned provider;
};

/* @seed makes it another function. The end counts too: "ab","c" is not "a","bc". */
static uint64_t digest_text(uint64_t seed, const char *text)
{
	return hash64_byte(hash64_text(HASH64_START ^ seed, text ? text : ""), 0);
}

static uint64_t digest_names(const struct container_names *names)
{
	const char *const texts[] = { names->names.text[LABEL_CONTAINER_NAME],
				      names->names.text[LABEL_POD_NAME],
				      names->names.text[LABEL_NAMESPACE],
				      names->names.text[LABEL_POD_ID] };
	uint64_t h = ((uint64_t)names->cpu_request_milli << 32) ^ names->cpu_limit_milli;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		h = digest_text(h, texts[i]);
	return h;
}

static struct map_key key_of(const char *id)
{
	return (struct map_key){ digest_text(1, id), digest_text(2, id) };
}

void name_table_init(struct name_table *table, struct directory *directory, uint32_t limit)
{
	*table = (struct name_table){ .directory = directory };
	map_init(&table->by_id, limit);
}

void name_table_release(struct name_table *table)
{
	map_release(&table->by_id);
	free(table->rows);
	table->rows = NULL;
	table->count = table->size = 0;
}

void name_table_begin(struct name_table *table)
{
	table->scan++;
}

static struct name_row *find_row(struct name_table *table, const char *id)
{
	uint32_t index = map_find(&table->by_id, key_of(id));

	return index == MAP_NONE ? NULL : &table->rows[index];
}

bool name_table_keep(struct name_table *table, unsigned provider, const char *id, uint64_t stamp)
{
	struct name_row *row = find_row(table, id);

	if (!row)
		return false;
	if (row->scan == table->scan && row->provider != provider)
		return true;
	if (row->provider != provider || row->stamp != stamp)
		return false;
	row->scan = table->scan;
	return true;
}

static int add_row(struct name_table *table, const char *id, struct name_row **ret)
{
	size_t len = strnlen(id, CONTAINER_ID_MAX);
	struct name_row *row;
	int r = ARRAY_RESERVE(table->rows, table->size, table->count + 1U);

	if (r == 0)
		r = map_put(&table->by_id, key_of(id), table->count);
	if (r < 0)
		return r;
	row = &table->rows[table->count++];
	*row = (struct name_row){ .scan = 0 };
	memcpy(row->id, id, len);
	*ret = row;
	return 0;
}

static void remove_row(struct name_table *table, uint32_t index)
{
	struct name_row *row = &table->rows[index], *last = &table->rows[table->count - 1];

	(void)map_remove(&table->by_id, key_of(row->id));
	if (row != last) {
		*row = *last;
		(void)map_put(&table->by_id, key_of(row->id), index); /* replaces: never fails */
	}
	table->count--;
}

int name_table_put(struct name_table *table, unsigned provider, uint64_t stamp,
		   const struct container_names *names)
{
	struct name_row *row = find_row(table, names->names.text[LABEL_CONTAINER_ID]);
	uint64_t digest = digest_names(names);
	bool is_new = !row;
	int r = 0;

	if (row && row->scan == table->scan && row->provider != provider)
		return 0;
	if (is_new)
		r = add_row(table, names->names.text[LABEL_CONTAINER_ID], &row);
	if (r < 0)
		return r;
	if (is_new || row->digest != digest) {
		r = directory_put(table->directory, DIRECTORY_RUNTIME, names);
		if (r < 0) {
			if (is_new)
				remove_row(table, table->count - 1);
			return r;
		}
		table->changes++;
	}
	row->provider = provider;
	row->stamp = stamp;
	row->digest = digest;
	row->scan = table->scan;
	return 0;
}

void name_table_keep_all(struct name_table *table, unsigned provider)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->rows[i].provider == provider)
			table->rows[i].scan = table->scan;
	}
}

bool name_table_has(const struct name_table *table, unsigned provider)
{
	for (uint32_t i = 0; i < table->count; i++) {
		if (table->rows[i].provider == provider && table->rows[i].scan == table->scan)
			return true;
	}
	return false;
}

void name_table_end(struct name_table *table, uint64_t now_ns)
{
	for (uint32_t i = table->count; i-- > 0;) {
		if (table->rows[i].scan == table->scan)
			continue;
		directory_remove(table->directory, DIRECTORY_RUNTIME, table->rows[i].id, now_ns);
		remove_row(table, i);
	}
}
