// SPDX-License-Identifier: Apache-2.0
/*
 * RAPL through powercap: Intel and AMD alike, by the kernel's own driver.
 *
 * A zone is known by kind and package for as long as the program runs; its place in the tree may
 * change. Its counter is opened once and read with pread. When it goes (its socket went offline,
 * the module was removed) the descriptor answers ENODEV for ever: it is closed, and a later rescan
 * finds the zone again, possibly under another index, and opens it as a new generation. A zone that
 * fails in another way (no permission, no range) keeps its place and is tried again at the next
 * read. One that stands still or fails gives its place to its twin, if a search finds that the twin
 * works.
 *
 * A read may hang in the kernel while a rescan replaces the descriptor, so descriptors are counted
 * references under a lock that is never held over I/O. Nothing is guessed: a counter whose range
 * cannot be read is an error, and so is a value without its newline, because a number cut short is
 * a number too.
 */
#include "meter/rapl/rapl_sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "meter/meter.h"
#include "meter/rapl/rapl_scan.h"
#include "meter/sysfs_number.h"

/* An open counter, shared by its zone and by the reads under way. */
struct handle {
	atomic_uint refs;
	int fd;
	uint64_t range_uj;
	uint32_t generation;
	uint64_t last_uj; /* as read last, by the one read that a zone has at a time */
	atomic_bool
		is_alive; /* it was read since the last search, was another value, and no error */
};

struct rapl_zone {
	struct zone zone;      /* fixed once the zone is counted */
	char *dir_path;        /* NULL while the zone is gone */
	struct handle *handle; /* NULL until opened */
	uint32_t generation;   /* of dir_path */
};

struct meter {
	char *sysfs;
	bool core_is_one_core, is_virtual;
	pthread_mutex_t lock; /* all below; never held over I/O */
	struct rapl_zone zones[METER_ZONES_MAX];
	size_t count;
	size_t ignored;
};

static struct handle *handle_ref(struct handle *handle)
{
	if (handle)
		atomic_fetch_add(&handle->refs, 1);
	return handle;
}

static struct handle *handle_unref(struct handle *handle)
{
	if (handle && atomic_fetch_sub(&handle->refs, 1) == 1) {
		(void)close(handle->fd);
		free(handle);
	}
	return NULL;
}

static void cleanup_handle(struct handle **handle)
{
	(void)handle_unref(*handle);
}

static int read_range(int dir_fd, uint64_t *ret_range_uj)
{
	char text[32];
	uint64_t range_uj;
	int r = sysfs_number_parse(
		text, read_file_at(dir_fd, "max_energy_range_uj", text, sizeof(text)), &range_uj);

	if (r == -ENOENT) /* the zone is there, its range is not */
		return -ENODATA;
	if (r < 0)
		return r;
	if (range_uj == 0)
		return -EBADMSG;
	*ret_range_uj = range_uj;
	return 0;
}

static int handle_open(const char *dir_path, uint32_t generation, struct handle **ret)
{
	CLEANUP_FD int dir_fd = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FD int fd = -1;
	struct handle *handle;
	uint64_t range_uj;
	int r;

	if (dir_fd < 0)
		return -errno;
	r = read_range(dir_fd, &range_uj);
	if (r < 0)
		return r;
	fd = openat(dir_fd, "energy_uj", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	handle = malloc(sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	*handle = (struct handle){ 1, TAKE_FD(fd), range_uj, generation, UINT64_MAX, false };
	*ret = handle;
	return 0;
}

static bool is_gone(int err)
{
	return err == -ENODEV || err == -ENOENT;
}

/* Forgets where the zone was, unless a rescan has found it again meanwhile. */
static void zone_lose(struct meter *meter, struct rapl_zone *zone, uint32_t generation)
{
	struct handle *old = NULL;
	char *path = NULL;

	pthread_mutex_lock(&meter->lock);
	if (zone->generation == generation) {
		old = TAKE_PTR(zone->handle);
		path = TAKE_PTR(zone->dir_path);
	}
	pthread_mutex_unlock(&meter->lock);
	(void)handle_unref(old);
	free(path);
}

/* The zone's open counter, opened now if need be. The reference is given. */
static int zone_handle(struct meter *meter, struct rapl_zone *zone, struct handle **ret)
{
	CLEANUP_FREE char *path = NULL;
	struct handle *handle;
	uint32_t generation;
	int r;

	pthread_mutex_lock(&meter->lock);
	handle = handle_ref(zone->handle);
	generation = zone->generation;
	if (!handle && zone->dir_path)
		path = strdup(zone->dir_path);
	pthread_mutex_unlock(&meter->lock);
	if (handle) {
		*ret = handle;
		return 0;
	}
	if (!path)
		return -ENODEV;
	r = handle_open(path, generation, &handle);
	if (is_gone(r))
		zone_lose(meter, zone, generation);
	if (r < 0)
		return r;
	pthread_mutex_lock(&meter->lock);
	if (zone->generation == generation && zone->dir_path && !zone->handle)
		zone->handle = handle_ref(handle);
	pthread_mutex_unlock(&meter->lock);
	*ret = handle;
	return 0;
}

/*
 * A removed file of an ordinary tree stays readable through its descriptor, with the same value for
 * ever; sysfs answers ENODEV by itself. So only a value that has not changed is suspicious.
 */
static bool is_unlinked(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

static int rapl_read_raw(struct meter *meter, size_t index, struct raw_reading *ret)
{
	CLEANUP(cleanup_handle) struct handle *handle = NULL;
	struct rapl_zone *zone = &meter->zones[index];
	uint64_t raw_uj = 0;
	char text[32];
	int r;

	r = zone_handle(meter, zone, &handle);
	if (r < 0)
		return r;
	r = sysfs_number_parse(text, read_piece_fd(handle->fd, text, sizeof(text)), &raw_uj);
	if ((r < 0 || raw_uj == handle->last_uj) && is_unlinked(handle->fd))
		r = -ENODEV;
	if (is_gone(r))
		zone_lose(meter, zone, handle->generation);
	if (r < 0 || raw_uj != handle->last_uj)
		atomic_store(&handle->is_alive, r == 0);
	if (r < 0)
		return r;
	handle->last_uj = raw_uj;
	*ret = (struct raw_reading){ .value = raw_uj,
				     .range_uj = handle->range_uj,
				     .generation = handle->generation,
				     .caveat = meter->is_virtual ? CAVEAT_VIRTUAL : CAVEAT_NONE };
	return 0;
}

static struct rapl_zone *find_zone(struct meter *meter, const struct rapl_found *found)
{
	for (size_t i = 0; i < meter->count; i++) {
		struct rapl_zone *zone = &meter->zones[i];

		if (zone->zone.kind == found->kind &&
		    strcmp(zone->zone.instance, found->instance) == 0)
			return zone;
	}
	return NULL;
}

static void add_zone(struct meter *meter, const struct rapl_found *found)
{
	struct zone *zone = &meter->zones[meter->count].zone;

	*zone = (struct zone){ .kind = found->kind,
			       .domain = zone_domain(found->kind, found->instance),
			       .source = rapl_sysfs_meter.name,
			       .rank = meter->is_virtual ? RANK_VIRTUAL : RANK_MEASURED };
	(void)snprintf(zone->instance, sizeof(zone->instance), "%s", found->instance);
	(void)snprintf(zone->path, sizeof(zone->path), "%s", found->dir_name);
	meter->count++;
}

/* True if its twin, which works, is to take its place. */
static bool is_dead(const struct rapl_zone *zone, const struct rapl_found *found)
{
	return found->is_better && strcmp(zone->dir_path, found->dir_path) != 0 &&
	       !(zone->handle && atomic_load(&zone->handle->is_alive));
}

static int place(struct rapl_zone *zone, const char *dir_path)
{
	char *path = strdup(dir_path);

	if (!path)
		return -ENOMEM;
	free(zone->dir_path);
	zone->dir_path = path;
	zone->handle = handle_unref(zone->handle);
	zone->generation++;
	return 0;
}

/* Adds the zone if it is new, and says where it is if that was not known, or is now elsewhere. */
static int adopt(struct meter *meter, const struct rapl_found *found)
{
	struct rapl_zone *zone = find_zone(meter, found);

	if (found->kind == ZONE_CORE && meter->core_is_one_core) {
		meter->ignored++;
		return 0;
	}
	if (!zone) {
		if (meter->count == METER_ZONES_MAX) {
			meter->ignored++;
			return 0;
		}
		zone = &meter->zones[meter->count];
		add_zone(meter, found);
	}
	if (!zone->dir_path || is_dead(zone, found))
		return place(zone, found->dir_path);
	if (zone->handle)
		atomic_store(&zone->handle->is_alive, false);
	return 0;
}

static int rapl_rescan(struct meter *meter)
{
	CLEANUP(rapl_scan_release) struct rapl_scan scan = { 0 };
	int r = rapl_scan_read(meter->sysfs, &scan);

	if (r < 0)
		return r;
	pthread_mutex_lock(&meter->lock);
	meter->ignored = scan.ignored;
	for (size_t i = 0; i < scan.count && r == 0; i++)
		r = adopt(meter, &scan.zones[i]);
	pthread_mutex_unlock(&meter->lock);
	return r;
}

static size_t rapl_zone_count(struct meter *meter)
{
	size_t count;

	pthread_mutex_lock(&meter->lock);
	count = meter->count;
	pthread_mutex_unlock(&meter->lock);
	return count;
}

static const struct zone *rapl_zone_at(struct meter *meter, size_t index)
{
	return &meter->zones[index].zone;
}

static size_t rapl_ignored(struct meter *meter)
{
	size_t ignored;

	pthread_mutex_lock(&meter->lock);
	ignored = meter->ignored;
	pthread_mutex_unlock(&meter->lock);
	return ignored;
}

static void rapl_close(struct meter *meter)
{
	if (!meter)
		return;
	for (size_t i = 0; i < meter->count; i++) {
		(void)handle_unref(meter->zones[i].handle);
		free(meter->zones[i].dir_path);
	}
	(void)pthread_mutex_destroy(&meter->lock);
	free(meter->sysfs);
	free(meter);
}

static int rapl_open(const struct meter_options *options, struct meter **ret)
{
	struct meter *meter = calloc(1, sizeof(*meter));

	if (!meter)
		return -ENOMEM;
	(void)pthread_mutex_init(&meter->lock, NULL); /* cannot fail with default attributes */
	meter->sysfs = strdup(options->sysfs);
	meter->core_is_one_core = options->core_is_one_core;
	meter->is_virtual = options->rapl_is_virtual;
	if (!meter->sysfs) {
		rapl_close(meter);
		return -ENOMEM;
	}
	*ret = meter;
	return 0;
}

const struct meter_ops rapl_sysfs_meter = {
	.name = "rapl-sysfs",
	.open = rapl_open,
	.zone_count = rapl_zone_count,
	.zone_at = rapl_zone_at,
	.ignored = rapl_ignored,
	.read_raw = rapl_read_raw,
	.rescan = rapl_rescan,
	.close = rapl_close,
};
