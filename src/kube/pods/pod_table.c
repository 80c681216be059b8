// SPDX-License-Identifier: Apache-2.0
/*
 * Packed rows, found by digests of their uid and of their text. A removed row is replaced by the
 * last one. Ids of a pod's containers are in one allocation, each terminated.
 */
#include "kube/pods/pod_table.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "kube/pods/pod_addresses.h"

struct pod_row {
	struct map_key uid_key, digest;
	bool has_digest;
	uint64_t generation;
	char *ids;
	size_t ids_len;
};

void pod_table_init(struct pod_table *table, struct directory *directory,
		    const struct pod_digest_key *key, uint32_t max_pods)
{
	*table = (struct pod_table){ .directory = directory, .key = *key, .limit = max_pods };
	map_init(&table->by_uid, max_pods);
	map_init(&table->by_digest, max_pods);
}

void pod_table_release(struct pod_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->rows[i].ids);
	free(table->rows);
	map_release(&table->by_uid);
	map_release(&table->by_digest);
}

void pod_table_begin(struct pod_table *table)
{
	table->generation++;
}

bool pod_table_seen(struct pod_table *table, const char *text, size_t len)
{
	uint32_t index = map_find(&table->by_digest, pod_digest(&table->key, text, len));

	if (index == MAP_NONE)
		return false;
	table->rows[index].generation = table->generation;
	return true;
}

static void forget_digest(struct pod_table *table, struct pod_row *row)
{
	if (row->has_digest)
		(void)map_remove(&table->by_digest, row->digest);
	row->has_digest = false;
}

static bool has_id(const char *ids, size_t len, const char *id)
{
	for (size_t at = 0; at < len; at += strlen(ids + at) + 1) {
		if (strcmp(ids + at, id) == 0)
			return true;
	}
	return false;
}

/* Withdraws the containers of @ids that are not among @kept. */
static void take_back(struct pod_table *table, const char *ids, size_t len, const char *kept,
		      size_t kept_len, uint64_t now_ns)
{
	for (size_t at = 0; at < len; at += strlen(ids + at) + 1) {
		if (!has_id(kept, kept_len, ids + at))
			directory_remove(table->directory, DIRECTORY_KUBERNETES, ids + at, now_ns);
	}
}

/*
 * A static pod has another uid with the kubelet than with the API server: after a switch of source
 * the row of the old one is removed when the new one has its containers already.
 */
static bool is_held_elsewhere(const struct pod_table *table, uint32_t index, const char *id)
{
	for (uint32_t i = 0; i < table->count; i++) {
		const struct pod_row *row = &table->rows[i];

		if (i != index && row->generation == table->generation &&
		    has_id(row->ids, row->ids_len, id))
			return true;
	}
	return false;
}

static void remove_row(struct pod_table *table, uint32_t index, uint64_t now_ns)
{
	struct pod_row *row = &table->rows[index], *last = &table->rows[table->count - 1];

	table->changes++;
	for (size_t at = 0; at < row->ids_len; at += strlen(row->ids + at) + 1) {
		if (!is_held_elsewhere(table, index, row->ids + at))
			directory_remove(table->directory, DIRECTORY_KUBERNETES, row->ids + at,
					 now_ns);
	}
	if (table->addresses)
		pod_addresses_remove(table->addresses, row->uid_key);
	(void)map_remove(&table->by_uid, row->uid_key);
	forget_digest(table, row);
	free(row->ids);
	if (row != last) {
		*row = *last;
		/* Replacing what a key has needs no memory. */
		(void)map_put(&table->by_uid, row->uid_key, index);
		if (row->has_digest)
			(void)map_put(&table->by_digest, row->digest, index);
	}
	table->count--;
}

void pod_table_end(struct pod_table *table, uint64_t now_ns)
{
	for (uint32_t i = table->count; i-- > 0;) {
		if (table->rows[i].generation != table->generation)
			remove_row(table, i, now_ns);
	}
}

void pod_table_remove(struct pod_table *table, const char *uid, uint64_t now_ns)
{
	uint32_t index = map_find(&table->by_uid, pod_digest(&table->key, uid, strlen(uid)));

	if (index != MAP_NONE)
		remove_row(table, index, now_ns);
}

static int find_or_add(struct pod_table *table, const char *uid, struct pod_row **ret)
{
	struct map_key key = pod_digest(&table->key, uid, strlen(uid));
	uint32_t index = map_find(&table->by_uid, key);
	int r = 0;

	if (index == MAP_NONE) {
		if (table->count == table->limit)
			return -ENOSPC;
		r = ARRAY_RESERVE(table->rows, table->size, table->count + 1U);
		index = table->count;
		if (r == 0)
			r = map_put(&table->by_uid, key, index);
		if (r < 0)
			return r;
		table->rows[table->count++] = (struct pod_row){ .uid_key = key };
	}
	*ret = &table->rows[index];
	return 0;
}

static int put_containers(struct pod_table *table, const struct pod *pod, struct strbuf *ids)
{
	int failed = 0;

	for (size_t i = 0; i < pod->count; i++) {
		const struct container_names *names = &pod->containers[i];
		int r = directory_put(table->directory, DIRECTORY_KUBERNETES, names);

		if (r < 0)
			failed = r;
		strbuf_add(ids, names->names.text[LABEL_CONTAINER_ID],
			   strlen(names->names.text[LABEL_CONTAINER_ID]) + 1);
	}
	return failed < 0 ? failed : strbuf_error(ids);
}

int pod_table_put(struct pod_table *table, const struct pod *pod, const char *text, size_t len,
		  uint64_t now_ns)
{
	struct strbuf ids = STRBUF_INIT;
	struct pod_row *row;
	int r = find_or_add(table, pod->uid, &row);

	if (r < 0)
		return r;
	table->changes++;
	row->generation = table->generation;
	forget_digest(table, row);
	r = put_containers(table, pod, &ids);
	if (strbuf_error(&ids) < 0) {
		strbuf_release(&ids);
		return -ENOMEM; /* the old ids stay; they are only not withdrawn */
	}
	take_back(table, row->ids, row->ids_len, ids.data, ids.len, now_ns);
	free(row->ids);
	row->ids = ids.data;
	row->ids_len = ids.len;
	if (r == 0 && text) {
		row->digest = pod_digest(&table->key, text, len);
		row->has_digest =
			map_find(&table->by_digest, row->digest) == MAP_NONE &&
			map_put(&table->by_digest, row->digest, (uint32_t)(row - table->rows)) == 0;
	}
	return r;
}
