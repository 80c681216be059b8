// SPDX-License-Identifier: Apache-2.0
/*
 * Shared by the sources: files that are read once and then known by their stamp, and limits. A
 * broken file affects only its container; containers above a limit are counted, and the known ones
 * stay as they are.
 */
#include "runtimes/scan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "runtimes/state_dir.h"

static int copy(const char *text, char **ret)
{
	*ret = text && *text != '\0' ? strdup(text) : NULL;
	return text && *text != '\0' && !*ret ? -ENOMEM : 0;
}

int scan_init(struct scan *scan, const struct runtimes_options *options,
	      struct directory *directory, const atomic_bool *stop, int cancel_fd)
{
	struct scan_paths *paths = &scan->paths;

	*scan = (struct scan){ .stop = stop, .cancel_fd = cancel_fd };
	name_table_init(&scan->table, directory, SCAN_CONTAINERS_MAX);
	if (copy(options->root, &paths->root) < 0 ||
	    copy(options->docker_socket, &paths->docker_socket) < 0 ||
	    copy(options->podman_socket, &paths->podman_socket) < 0 ||
	    copy(options->docker_state, &paths->docker_state) < 0 ||
	    copy(options->containerd_state, &paths->containerd_state) < 0 ||
	    copy(options->crio_state, &paths->crio_state) < 0) {
		scan_release(scan);
		return -ENOMEM;
	}
	return 0;
}

void scan_release(struct scan *scan)
{
	struct scan_paths *paths = &scan->paths;
	char **const owned[] = {
		&paths->root,         &paths->docker_socket,    &paths->podman_socket,
		&paths->docker_state, &paths->containerd_state, &paths->crio_state
	};

	name_table_release(&scan->table);
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		free(*owned[i]);
		*owned[i] = NULL;
	}
}

void scan_error(struct scan *scan, int error, const char *what)
{
	(void)snprintf(scan->stats.last_error, sizeof(scan->stats.last_error), "%s: %s: %s",
		       scan->source_name, what, strerrordesc_np(-error));
}

int scan_open(struct scan *scan, const char *path)
{
	int fd = state_dir_open(scan->paths.root ? scan->paths.root : "", path);

	if (fd < 0 && fd != -ENOENT)
		scan_error(scan, fd, path);
	return fd;
}

int scan_take(struct scan *scan)
{
	if (atomic_load_explicit(scan->stop, memory_order_relaxed))
		return -ECANCELED;
	if (scan->budget == 0)
		return -E2BIG;
	scan->budget--;
	return 0;
}

int scan_put(void *userdata, const struct container_names *names)
{
	const struct scan_put *put = userdata;
	int r;

	if (put->id && strcmp(put->id, names->names.text[LABEL_CONTAINER_ID]) != 0)
		return -EBADMSG; /* the file names another container */
	r = name_table_put(&put->scan->table, put->scan->source, put->stamp, names);
	if (r == -ENOSPC) {
		put->scan->stats.refused++;
		return 0;
	}
	return r;
}

int scan_put_listed(void *userdata, const struct container_names *names)
{
	const struct scan_put *put = userdata;
	int r = scan_take(put->scan);

	return r < 0 ? r : scan_put(userdata, names);
}

int scan_container(struct scan *scan, int dirfd, const char *path, const char *id, uint64_t stamp,
		   scan_parse_fn *parse)
{
	struct scan_put put = { scan, stamp, id };
	char *text CLEANUP_FREE = NULL;
	size_t len = 0;
	int r = scan_take(scan);

	if (r < 0)
		return r;
	if (name_table_keep(&scan->table, scan->source, id, stamp))
		return 0;
	r = state_dir_read(dirfd, path, SCAN_CONFIG_MAX, &text, &len);
	if (r == 0)
		r = parse(text, len, id, scan_put, &put);
	/* Removed, or not written yet: the next scan will show. */
	if (r < 0 && r != -ENOENT) {
		scan->stats.bad++;
		scan_error(scan, r, path);
	}
	return 0;
}
