// SPDX-License-Identifier: Apache-2.0
/*
 * One row per container, with a record from each source that knows it, under one lock, which is
 * held for a look-up or one change, never while waiting. The lock also covers the directory's own
 * table of names; look-ups intern their result in the loop's table. A record that a source withdrew
 * stays, with the time; the loop finds it as before, until a later change removes it because its
 * time is over. The generation is read without the lock, once per interval: while it does not
 * change there is nothing to look up again. Ids are found by their hash: a user that makes two of
 * his ids collide hides one of them.
 */
#include "workload/name_directory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/map.h"
#include "energy/label_text.h"
#include "workload/text_key.h"

#define PURGE_EVERY_NS (30 * 1000000000ULL)

struct said {
	struct directory_record record; /* without names: this source knows nothing */
	uint64_t removed_ns;            /* 0: it exists */
};

struct row {
	struct said said[DIRECTORY_SOURCE_COUNT];
};

struct source {
	atomic_bool reachable, configured;
	int wanted_fd;       /* -1: does not poll */
	uint64_t containers; /* that exist */
};

struct directory {
	pthread_mutex_t lock;
	struct map by_id;  /* hash of the container's id → row */
	struct map by_pod; /* hash of the pod's id → a row of its */
	struct row *rows;
	uint32_t count, size, limit;
	struct names_table *names;
	struct source sources[DIRECTORY_SOURCE_COUNT];
	atomic_uint_fast64_t generation;
	uint64_t purged_ns;
	uint64_t refused, found, not_found;
};

static const struct directory_record *best_record(const struct row *row)
{
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++)
		if (row->said[s].record.names)
			return &row->said[s].record;
	return NULL;
}

/* A row always has a record. */
static const char *id_of(const struct row *row)
{
	return best_record(row)->names->text[LABEL_CONTAINER_ID];
}

static const char *pod_of(const struct row *row)
{
	return best_record(row)->names->text[LABEL_POD_ID];
}

/* By the interned id. */
static struct row *find_row(struct directory *directory, const char *container_id)
{
	char id[OWNER_NAME_MAX + 1];
	uint32_t index;

	label_text(id, sizeof(id), container_id);
	index = map_find(&directory->by_id, text_key(id));
	if (index == MAP_NONE || strcmp(id_of(&directory->rows[index]), id) != 0)
		return NULL;
	return &directory->rows[index];
}

/* @difference: 1 or -1 */
static void count_container(struct directory *directory, enum directory_source source,
			    const struct directory_record *record, int difference)
{
	if (strncmp(record->names->text[LABEL_CONTAINER_ID], DIRECTORY_POD_PREFIX,
		    strlen(DIRECTORY_POD_PREFIX)) != 0)
		directory->sources[source].containers += (uint64_t)difference;
}

static void note_change(struct directory *directory)
{
	(void)atomic_fetch_add(&directory->generation, 1);
}

/* ---- pods ---- */

static bool is_from_kubernetes(const struct row *row)
{
	return row->said[DIRECTORY_KUBERNETES].record.names;
}

static void note_pod(struct directory *directory, uint32_t index)
{
	const char *pod = pod_of(&directory->rows[index]);
	uint32_t known;

	if (!pod[0])
		return;
	known = map_find(&directory->by_pod, text_key(pod));
	if (known == MAP_NONE || is_from_kubernetes(&directory->rows[index]) ||
	    !is_from_kubernetes(&directory->rows[known]))
		/* without memory its sandbox stays without a name */
		(void)map_put(&directory->by_pod, text_key(pod), index);
}

/* Another row of the pod takes over from @index, the best; none: the pod is gone. */
static void forget_pod(struct directory *directory, uint32_t index)
{
	const char *pod = pod_of(&directory->rows[index]);

	if (!pod[0] || map_find(&directory->by_pod, text_key(pod)) != index)
		return;
	(void)map_remove(&directory->by_pod, text_key(pod));
	for (uint32_t i = 0; i < directory->count; i++) {
		if (i == index || strcmp(pod_of(&directory->rows[i]), pod) != 0)
			continue;
		note_pod(directory, i);
		if (is_from_kubernetes(&directory->rows[i]))
			return;
	}
}

/* ---- rows ---- */

/* The last row moves into the gap. */
static void remove_row(struct directory *directory, uint32_t index)
{
	struct row *row = &directory->rows[index];
	uint32_t last = directory->count - 1;

	forget_pod(directory, index);
	(void)map_remove(&directory->by_id, text_key(id_of(row)));
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++)
		owner_names_unref(row->said[s].record.names);
	if (index != last) {
		struct map_key pod = text_key(pod_of(&directory->rows[last]));

		*row = directory->rows[last];
		(void)map_put(&directory->by_id, text_key(id_of(row)), index);
		if (map_find(&directory->by_pod, pod) == last)
			(void)map_put(&directory->by_pod, pod, index);
	}
	directory->count--;
}

/* When the last source withdrew it; 0: a source says that it exists. */
static uint64_t removed_ns(const struct row *row)
{
	uint64_t latest = 0;

	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++) {
		if (!row->said[s].record.names)
			continue;
		if (!row->said[s].removed_ns)
			return 0;
		if (row->said[s].removed_ns > latest)
			latest = row->said[s].removed_ns;
	}
	return latest;
}

static void purge(struct directory *directory, uint64_t now_ns)
{
	if (now_ns < directory->purged_ns + PURGE_EVERY_NS)
		return;
	directory->purged_ns = now_ns;
	for (uint32_t i = directory->count; i-- > 0;) {
		uint64_t removed = removed_ns(&directory->rows[i]);

		if (removed && now_ns >= removed + DIRECTORY_KEEP_NS)
			remove_row(directory, i);
	}
}

/* Makes room at the limit: removes the row that was withdrawn longest ago. */
static bool remove_oldest(struct directory *directory)
{
	uint64_t oldest = UINT64_MAX;
	uint32_t index = 0;

	for (uint32_t i = 0; i < directory->count; i++) {
		uint64_t removed = removed_ns(&directory->rows[i]);

		if (removed && removed < oldest) {
			oldest = removed;
			index = i;
		}
	}
	if (oldest == UINT64_MAX)
		return false;
	remove_row(directory, index);
	return true;
}

static int add_row(struct directory *directory, enum directory_source source,
		   const struct directory_record *record)
{
	struct map_key key = text_key(record->names->text[LABEL_CONTAINER_ID]);
	struct row *row;
	int r;

	if (map_find(&directory->by_id, key) != MAP_NONE)
		return -ENOSPC; /* another id of the same hash */
	if (directory->count >= directory->limit && !remove_oldest(directory))
		return -ENOSPC;
	r = ARRAY_RESERVE(directory->rows, directory->size, directory->count + 1U);
	if (r == 0)
		r = map_put(&directory->by_id, key, directory->count);
	if (r < 0)
		return r;
	row = &directory->rows[directory->count];
	*row = (struct row){ 0 };
	row->said[source].record = *record;
	note_pod(directory, directory->count++);
	return 0;
}

/* Equal names are the same set. */
static bool is_same(const struct directory_record *a, const struct directory_record *b)
{
	return a->names == b->names && a->cpu_request_milli == b->cpu_request_milli &&
	       a->cpu_limit_milli == b->cpu_limit_milli;
}

/* Takes the reference of @record, also on failure. */
static int put_record(struct directory *directory, enum directory_source source,
		      const struct directory_record *record)
{
	struct row *row = find_row(directory, record->names->text[LABEL_CONTAINER_ID]);
	struct said *said;

	if (!row) {
		int r = add_row(directory, source, record);

		if (r < 0) {
			owner_names_unref(record->names);
			return r;
		}
		row = find_row(directory, record->names->text[LABEL_CONTAINER_ID]);
		said = &row->said[source];
		count_container(directory, source, record, 1);
		note_change(directory);
	} else {
		said = &row->said[source];
		if (!said->record.names || said->removed_ns)
			count_container(directory, source, record, 1);
		if (!is_same(&said->record, record)) {
			uint32_t index = (uint32_t)(row - directory->rows);

			if (strcmp(pod_of(row), record->names->text[LABEL_POD_ID]) != 0)
				forget_pod(directory, index);
			owner_names_unref(said->record.names);
			said->record = *record;
			note_pod(directory, index);
			note_change(directory);
		} else {
			owner_names_unref(record->names);
		}
	}
	said->removed_ns = 0;
	return 0;
}

int directory_put(struct directory *directory, enum directory_source source,
		  const struct container_names *names)
{
	const char *id = names->names.text[LABEL_CONTAINER_ID];
	struct directory_record record = {
		.cpu_request_milli = names->cpu_request_milli,
		.cpu_limit_milli = names->cpu_limit_milli,
		.source = source,
		.pod_source = source,
	};
	int r;

	if (!id || !id[0])
		return 0;
	(void)pthread_mutex_lock(&directory->lock);
	record.names = owner_names_intern(directory->names, &names->names);
	r = record.names ? put_record(directory, source, &record) : -ENOMEM;
	if (r == -ENOSPC)
		directory->refused++;
	(void)pthread_mutex_unlock(&directory->lock);
	return r;
}

static void take_back(struct directory *directory, enum directory_source source, struct said *said,
		      uint64_t now_ns)
{
	if (!said->record.names || said->removed_ns)
		return;
	said->removed_ns = now_ns ? now_ns : 1;
	count_container(directory, source, &said->record, -1);
}

void directory_remove(struct directory *directory, enum directory_source source,
		      const char *container_id, uint64_t now_ns)
{
	struct row *row;

	(void)pthread_mutex_lock(&directory->lock);
	row = find_row(directory, container_id);
	if (row)
		take_back(directory, source, &row->said[source], now_ns);
	purge(directory, now_ns);
	(void)pthread_mutex_unlock(&directory->lock);
}

/* ---- state of the sources ---- */

void directory_set_reachable(struct directory *directory, enum directory_source source, bool yes)
{
	atomic_store(&directory->sources[source].configured, true);
	if (atomic_exchange(&directory->sources[source].reachable, yes) != yes)
		note_change(directory);
}

bool directory_source_is_reachable(const struct directory *directory, enum directory_source source)
{
	return atomic_load(&directory->sources[source].reachable);
}

int directory_wanted_fd(struct directory *directory, enum directory_source source)
{
	int fd;

	(void)pthread_mutex_lock(&directory->lock);
	fd = directory->sources[source].wanted_fd;
	if (fd < 0)
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	directory->sources[source].wanted_fd = fd;
	(void)pthread_mutex_unlock(&directory->lock);
	return fd;
}

/* Only up to the first source that knows it, which hides the others. */
static void tell_wanted(const struct directory *directory, const struct row *row)
{
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++) {
		if (row && row->said[s].record.names)
			return;
		if (directory->sources[s].wanted_fd >= 0)
			(void)eventfd_write(directory->sources[s].wanted_fd, 1);
	}
}

/* ---- the loop ---- */

uint64_t directory_generation(const struct directory *directory)
{
	return atomic_load(&directory->generation);
}

/* Without memory it counts as unknown. */
static bool hand_out(const struct directory_record *record, struct names_table *table,
		     struct directory_record *ret)
{
	const struct owner_names *names = owner_names_intern(table, record->names);

	if (!names)
		return false;
	*ret = *record;
	ret->names = names;
	return true;
}

static bool look_up(struct directory *directory, const char *container_id, bool tell,
		    struct names_table *table, struct directory_record *ret)
{
	const struct row *row;
	bool found;

	(void)pthread_mutex_lock(&directory->lock);
	row = find_row(directory, container_id);
	found = row && hand_out(best_record(row), table, ret);
	if (found)
		directory->found++;
	else
		directory->not_found++;
	if (tell)
		tell_wanted(directory, row);
	(void)pthread_mutex_unlock(&directory->lock);
	return found;
}

bool directory_find(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret)
{
	return look_up(directory, container_id, true, table, ret);
}

bool directory_peek(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret)
{
	return look_up(directory, container_id, false, table, ret);
}

bool directory_find_pod(struct directory *directory, const char *pod_id, struct names_table *table,
			struct directory_record *ret)
{
	bool found = false;
	uint32_t index;

	(void)pthread_mutex_lock(&directory->lock);
	index = map_find(&directory->by_pod, text_key(pod_id));
	if (index != MAP_NONE && strcmp(pod_of(&directory->rows[index]), pod_id) == 0)
		found = hand_out(best_record(&directory->rows[index]), table, ret);
	(void)pthread_mutex_unlock(&directory->lock);
	return found;
}

/* A runtime's facts come from annotations, which authors of images and pods write. */
static bool is_called(const struct row *row, const struct directory_name *name)
{
	const struct said *said = &row->said[DIRECTORY_KUBERNETES];
	const char *const *text;

	if (!said->record.names || said->removed_ns)
		return false;
	text = said->record.names->text;
	return strcmp(text[LABEL_CONTAINER_NAME], name->container) == 0 &&
	       strcmp(text[LABEL_POD_NAME], name->pod) == 0 &&
	       strcmp(text[LABEL_NAMESPACE], name->namespace_) == 0;
}

size_t directory_find_named(struct directory *directory, const struct directory_name *name,
			    char (*ret)[DIRECTORY_ID_MAX + 1], size_t max)
{
	size_t found = 0;

	(void)pthread_mutex_lock(&directory->lock);
	for (uint32_t i = 0; found < max && i < directory->count; i++) {
		const char *id = id_of(&directory->rows[i]);

		if (!is_called(&directory->rows[i], name) || strlen(id) > DIRECTORY_ID_MAX)
			continue;
		memcpy(ret[found++], id, strlen(id) + 1);
	}
	(void)pthread_mutex_unlock(&directory->lock);
	return found;
}

void directory_get_stats(struct directory *directory, struct directory_stats *ret)
{
	(void)pthread_mutex_lock(&directory->lock);
	*ret = (struct directory_stats){ .refused = directory->refused,
					 .found = directory->found,
					 .not_found = directory->not_found };
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++) {
		ret->containers[s] = directory->sources[s].containers;
		ret->configured[s] = atomic_load(&directory->sources[s].configured);
		ret->reachable[s] = atomic_load(&directory->sources[s].reachable);
	}
	(void)pthread_mutex_unlock(&directory->lock);
}

/* ---- life ---- */

int directory_new(uint32_t max_containers, struct directory **ret)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return -ENOMEM;
	directory->names = names_table_get(NULL);
	if (!directory->names) {
		free(directory);
		return -ENOMEM;
	}
	(void)pthread_mutex_init(&directory->lock, NULL); /* cannot fail without attributes */
	map_init(&directory->by_id, max_containers);
	map_init(&directory->by_pod, max_containers);
	directory->limit = max_containers;
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++)
		directory->sources[s].wanted_fd = -1;
	*ret = directory;
	return 0;
}

void directory_free(struct directory *directory)
{
	if (!directory)
		return;
	while (directory->count > 0) {
		struct row *row = &directory->rows[--directory->count];

		for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++)
			owner_names_unref(row->said[s].record.names);
	}
	free(directory->rows);
	names_table_put(directory->names);
	map_release(&directory->by_id);
	map_release(&directory->by_pod);
	for (size_t s = 0; s < DIRECTORY_SOURCE_COUNT; s++)
		if (directory->sources[s].wanted_fd >= 0)
			(void)close(directory->sources[s].wanted_fd);
	(void)pthread_mutex_destroy(&directory->lock);
	free(directory);
}
