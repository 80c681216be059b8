// SPDX-License-Identifier: Apache-2.0
/*
 * The real tree shows a zone several times: class/powercap holds symlinks to every zone, and a
 * sub-zone is also a directory inside its parent; intel-rapl-mmio repeats the package that
 * intel-rapl has. So the walk follows links, identifies a directory by device and inode, finds the
 * parent of a sub-zone by its directory's name (whichever way it was reached), and at the end keeps
 * one zone of each kind and package. Counters are read only to choose between two of them, so that
 * a driver that hangs costs nothing elsewhere. The walk is bounded in depth and in directories,
 * because a tree given by --host.sysfs may contain anything.
 */
#include "meter/rapl/rapl_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "meter/rapl/rapl_name.h"
#include "meter/sysfs_number.h"

#define WALK_DEPTH_MAX 6
#define WALK_DIRS_MAX  (4 * METER_ZONES_MAX)

struct visited_dir {
	dev_t dev;
	ino_t ino;
};

/* The state of a zone that has a twin; a greater value is worse. */
enum { TWIN_WORKS, TWIN_STILL, TWIN_UNREADABLE };
#define TWIN_LOOKS   10
#define TWIN_WAIT_NS 2000000

/* A zone directory as the walk met it; its package may still be its parent's to give. */
struct candidate {
	struct rapl_found found;
	bool has_package;
	size_t outer; /* candidate whose directory holds this one, or SIZE_MAX */
};

struct walk {
	struct visited_dir visited[WALK_DIRS_MAX];
	size_t visited_count;
	struct candidate *candidates; /* [size]; grows, for room of the limit would stay resident */
	size_t count, size;
	bool no_memory;
	size_t ignored;
};

/* True when the directory is new to the walk and there is room to remember it. */
static bool visit(struct walk *walk, int dir_fd)
{
	struct stat st;

	if (fstat(dir_fd, &st) < 0)
		return false;
	for (size_t i = 0; i < walk->visited_count; i++) {
		if (walk->visited[i].dev == st.st_dev && walk->visited[i].ino == st.st_ino)
			return false;
	}
	if (walk->visited_count == WALK_DIRS_MAX) {
		walk->ignored++;
		return false;
	}
	walk->visited[walk->visited_count++] = (struct visited_dir){ st.st_dev, st.st_ino };
	return true;
}

static bool has_room(struct walk *walk)
{
	if (ARRAY_RESERVE(walk->candidates, walk->size, walk->count + 1) == 0)
		return true;
	walk->no_memory = true;
	return false;
}

/*
 * Takes the directory as a zone when it holds a counter and a name that we know. Its index, or
 * SIZE_MAX.
 */
static size_t take_zone(struct walk *walk, int dir_fd, const char *dir_path, const char *dir_name,
			size_t outer)
{
	struct candidate *candidate;
	struct rapl_name name;
	char text[64];
	ssize_t len;

	if (faccessat(dir_fd, "energy_uj", F_OK, 0) < 0)
		return SIZE_MAX;
	len = read_file_at(dir_fd, "name", text, sizeof(text));
	if (len < 0 || !rapl_name_parse(text, (size_t)len, &name) ||
	    strlen(dir_name) >= ZONE_PATH_MAX || walk->count == WALK_DIRS_MAX) {
		walk->ignored++;
		return SIZE_MAX;
	}
	if (!has_room(walk))
		return SIZE_MAX;
	candidate = &walk->candidates[walk->count];
	*candidate = (struct candidate){ .has_package = name.has_package, .outer = outer };
	candidate->found.kind = name.kind;
	memcpy(candidate->found.instance, name.package, sizeof(name.package));
	(void)snprintf(candidate->found.dir_name, sizeof(candidate->found.dir_name), "%s",
		       dir_name);
	(void)snprintf(candidate->found.dir_path, sizeof(candidate->found.dir_path), "%s",
		       dir_path);
	return walk->count++;
}

static bool leads_out(const char *name)
{
	static const char *const outward[] = { "subsystem", "device", "power", "firmware_node" };

	if (name[0] == '.')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(outward); i++) {
		if (strcmp(name, outward[i]) == 0)
			return true;
	}
	return false;
}

static void walk_dir(struct walk *walk, int parent_fd, const char *entry, const char *dir_path,
		     size_t outer, unsigned depth);

static void walk_entries(struct walk *walk, DIR *dir, const char *dir_path, size_t outer,
			 unsigned depth)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		char path[RAPL_PATH_MAX];

		if (leads_out(entry->d_name) || entry->d_type == DT_REG ||
		    path_join(path, sizeof(path), dir_path, entry->d_name) < 0)
			continue;
		walk_dir(walk, dirfd(dir), entry->d_name, path, outer, depth + 1);
	}
}

static void walk_dir(struct walk *walk, int parent_fd, const char *entry, const char *dir_path,
		     size_t outer, unsigned depth)
{
	CLEANUP_FD int fd = openat(parent_fd, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t zone = outer;
	DIR *dir;

	if (fd < 0 || depth > WALK_DEPTH_MAX || !visit(walk, fd))
		return;
	if (depth > 0) {
		size_t taken = take_zone(walk, fd, dir_path, entry, outer);

		zone = taken == SIZE_MAX ? outer : taken;
	}
	dir = fdopendir(fd);
	if (!dir)
		return;
	(void)TAKE_FD(fd); /* the stream owns it now */
	walk_entries(walk, dir, dir_path, zone, depth);
	(void)closedir(dir);
}

/* The zone above: by directory name, or else the zone whose directory holds it. */
static const struct candidate *parent_of(const struct walk *walk, const struct candidate *candidate)
{
	char parent[ZONE_PATH_MAX];

	if (rapl_dir_parent(candidate->found.dir_name, parent, sizeof(parent))) {
		for (size_t i = 0; i < walk->count; i++) {
			if (strcmp(walk->candidates[i].found.dir_name, parent) == 0)
				return &walk->candidates[i];
		}
	}
	return candidate->outer == SIZE_MAX ? NULL : &walk->candidates[candidate->outer];
}

/*
 * A sub-zone belongs to its parent's package; one that stands alone (a machine with dram only) to
 * package 0.
 */
static void resolve_package(const struct walk *walk, struct candidate *candidate)
{
	const struct candidate *above = candidate;

	for (unsigned depth = 0; above && !above->has_package && depth < WALK_DEPTH_MAX; depth++)
		above = parent_of(walk, above);
	if (above && above->has_package)
		memcpy(candidate->found.instance, above->found.instance, ZONE_INSTANCE_MAX);
	else
		(void)snprintf(candidate->found.instance, ZONE_INSTANCE_MAX, "0");
}

static bool same_zone(const struct rapl_found *a, const struct rapl_found *b)
{
	return a->kind == b->kind && strcmp(a->instance, b->instance) == 0;
}

/* By kind and package; of twins one that works, then the MSR, then the lower name. */
static int compare_found(const void *left, const void *right)
{
	const struct rapl_found *a = left;
	const struct rapl_found *b = right;
	int by_mmio = (int)rapl_dir_is_mmio(a->dir_name) - (int)rapl_dir_is_mmio(b->dir_name);
	int by_instance = strverscmp(a->instance, b->instance);
	int by_fault = a->fault - b->fault;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (by_instance != 0)
		return by_instance;
	if (by_fault != 0)
		return by_fault;
	return by_mmio != 0 ? by_mmio : strcmp(a->dir_name, b->dir_name);
}

static bool read_counter(const struct rapl_found *found, uint64_t *ret_uj)
{
	char path[RAPL_PATH_MAX], text[32];

	return path_join(path, sizeof(path), found->dir_path, "energy_uj") == 0 &&
	       sysfs_number_parse(text, read_file_at(AT_FDCWD, path, text, sizeof(text)), ret_uj) ==
		       0;
}

static bool has_twin(const struct rapl_found *zones, size_t count, size_t i)
{
	return (i > 0 && same_zone(&zones[i - 1], &zones[i])) ||
	       (i + 1 < count && same_zone(&zones[i], &zones[i + 1]));
}

/* True if those that stood still do so after a moment, too: RAPL counts every millisecond. */
static bool look_again(struct rapl_found *zones, const uint64_t *first_uj, size_t count)
{
	const struct timespec moment = { .tv_nsec = TWIN_WAIT_NS };
	bool some = false;
	uint64_t now_uj;

	(void)nanosleep(&moment, NULL);
	for (size_t i = 0; i < count; i++) {
		if (zones[i].fault == TWIN_STILL && read_counter(&zones[i], &now_uj) &&
		    now_uj != first_uj[i])
			zones[i].fault = TWIN_WORKS;
		some |= zones[i].fault == TWIN_STILL;
	}
	return some;
}

/* Zones that are sorted: those that have a twin are read until they move, for a moment. */
static void read_twins(struct rapl_found *zones, uint64_t *first_uj, size_t count)
{
	bool some = false;

	for (size_t i = 0; i < count; i++) {
		zones[i].fault = TWIN_WORKS;
		if (!has_twin(zones, count, i))
			continue;
		zones[i].fault =
			read_counter(&zones[i], &first_uj[i]) ? TWIN_STILL : TWIN_UNREADABLE;
		some |= zones[i].fault == TWIN_STILL;
	}
	for (unsigned look = 0; some && look < TWIN_LOOKS; look++)
		some = look_again(zones, first_uj, count);
}

static int finish(struct walk *walk, struct rapl_scan *ret)
{
	CLEANUP_FREE struct rapl_found *zones = calloc(walk->count + 1, sizeof(*zones));
	CLEANUP_FREE uint64_t *first_uj = calloc(walk->count + 1, sizeof(*first_uj));
	size_t kept = 0;

	if (!zones || !first_uj || walk->no_memory)
		return -ENOMEM;
	for (size_t i = 0; i < walk->count; i++) {
		if (!walk->candidates[i].has_package)
			resolve_package(walk, &walk->candidates[i]);
		zones[i] = walk->candidates[i].found;
	}
	qsort(zones, walk->count, sizeof(*zones), compare_found);
	read_twins(zones, first_uj, walk->count);
	qsort(zones, walk->count, sizeof(*zones), compare_found);
	for (size_t i = 0; i < walk->count; i++) {
		bool is_twin = kept > 0 && same_zone(&zones[kept - 1], &zones[i]);

		if (is_twin && zones[kept - 1].fault < zones[i].fault)
			zones[kept - 1].is_better = true;
		if (is_twin || kept == METER_ZONES_MAX)
			walk->ignored++;
		else if (kept++ != i)
			zones[kept - 1] = zones[i];
	}
	*ret = (struct rapl_scan){ TAKE_PTR(zones), kept, walk->ignored };
	return 0;
}

int rapl_scan_read(const char *sysfs, struct rapl_scan *ret)
{
	CLEANUP_FREE struct walk *walk = calloc(1, sizeof(*walk));
	char path[RAPL_PATH_MAX];
	int r;

	if (!walk)
		return -ENOMEM;
	if (path_join(path, sizeof(path), sysfs, "class/powercap") == 0)
		walk_dir(walk, AT_FDCWD, path, path, SIZE_MAX, 0);
	r = finish(walk, ret);
	free(walk->candidates);
	return r;
}

void rapl_scan_release(struct rapl_scan *scan)
{
	free(scan->zones);
	*scan = (struct rapl_scan){ 0 };
}
