// SPDX-License-Identifier: Apache-2.0
/*
 * containers/storage, which CRI-O and Podman share: GRAPH/DRIVER-containers/containers.json lists
 * all containers (RUN/DRIVER-containers/volatile-containers.json those that may be lost with a
 * reboot), RUN/DRIVER-containers/ID/userdata/config.json is the bundle of each that runs. Podman's
 * names are in the lists, CRI-O's in the bundles, and a bundle of Podman's has no name: so the
 * lists come first. They are read again only when they changed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/scan.h"
#include "runtimes/state_dir.h"

#define GRAPH "/var/lib/containers/storage"
#define RUN   "/run/containers/storage"

/* Two lists of each, in the order of their names below. */
static const char *const drivers[SCAN_LISTS / 2] = { "overlay", "vfs", "btrfs", "zfs" };

static int open_containers(struct scan *scan, const char *standard, const char *driver)
{
	const char *state = scan->paths.crio_state ? scan->paths.crio_state : standard;
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s-containers", state, driver);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return scan_open(scan, path);
}

static int read_list(struct scan *scan, int dirfd, const char *name)
{
	struct scan_put put = { .scan = scan };
	char *text CLEANUP_FREE = NULL;
	uint64_t bad = 0;
	size_t len = 0;
	int r = state_dir_read(dirfd, name, SCAN_LIST_MAX, &text, &len);

	if (r == 0)
		r = storage_list_names(text, len, &bad, scan_put_listed, &put);
	scan->stats.bad += bad;
	if (r == -ENOENT)
		return 0; /* removed since it was stamped */
	if (r < 0)
		scan_error(scan, r, name);
	return r;
}

/* The lists' directories and stamps: -1 and 0 if there is none. */
struct lists {
	int dirs[SCAN_LISTS];
	uint64_t stamps[SCAN_LISTS];
	bool present;
};

static const char *list_name(size_t i)
{
	return i % 2 ? "volatile-containers.json" : "containers.json";
}

static void open_lists(struct scan *scan, struct lists *lists)
{
	*lists = (struct lists){ .present = false };
	for (size_t i = 0; i < SCAN_LISTS; i++) {
		lists->dirs[i] = open_containers(scan, i % 2 ? RUN : GRAPH, drivers[i / 2]);
		if (lists->dirs[i] < 0)
			continue;
		lists->present = true;
		(void)state_dir_stamp(lists->dirs[i], list_name(i), &lists->stamps[i]);
	}
}

static void close_lists(struct lists *lists)
{
	for (size_t i = 0; i < SCAN_LISTS; i++)
		cleanup_fd(&lists->dirs[i]);
}

int scan_storage(struct scan *scan)
{
	struct lists lists CLEANUP(close_lists);
	int result = 0;

	open_lists(scan, &lists);
	if (!lists.present)
		return -ENOENT;
	if (memcmp(lists.stamps, scan->list_stamps, sizeof(lists.stamps)) == 0) {
		name_table_keep_all(&scan->table, scan->source);
		return 0;
	}
	for (size_t i = 0; i < SCAN_LISTS; i++) {
		int r = lists.stamps[i] ? read_list(scan, lists.dirs[i], list_name(i)) : 0;

		if (r < 0)
			result = r;
	}
	/* Containers that could not be read or stored are read again. */
	if (result == 0 && scan->stats.refused == 0)
		memcpy(scan->list_stamps, lists.stamps, sizeof(lists.stamps));
	else
		memset(scan->list_stamps, 0, sizeof(scan->list_stamps));
	return result;
}

static int one_bundle(void *userdata, int dirfd, const char *id, uint64_t inode)
{
	char path[CONTAINER_ID_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/userdata/config.json", id);
	return scan_container(userdata, dirfd, path, id, inode, crio_bundle_names);
}

int scan_crio(struct scan *scan)
{
	int result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		int fd CLEANUP_FD = open_containers(scan, RUN, drivers[i]);
		int r = fd < 0 ? fd : state_dir_each(fd, one_bundle, scan);

		if (r < 0 && r != -ENOENT)
			result = r;
	}
	if (result == 0 && !name_table_has(&scan->table, scan->source))
		return -ENOENT;
	return result;
}
