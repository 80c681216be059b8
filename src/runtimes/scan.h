/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan of all runtimes of this host: the state that its sources share, what they call, and the
 * sources; scan_sources.h runs them. Belongs to one thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtimes/name_table.h"
#include "runtimes/names.h"
#include "runtimes/runtimes_options.h"

/* Containers that one scan reads, of all runtimes together. */
#define SCAN_CONTAINERS_MAX 16384
/* The limit of one container's file: a bundle with the largest seccomp profile has 60 kB. */
#define SCAN_CONFIG_MAX (1024UL * 1024)
/* The limit of a list of containers, about 1 kB each. */
#define SCAN_LIST_MAX (8UL * 1024 * 1024)

/* Lists in containers/storage. */
#define SCAN_LISTS 8

struct scan_paths {
	char *root, *docker_socket, *podman_socket, *docker_state, *containerd_state, *crio_state;
};

struct scan {
	struct scan_paths paths; /* owned; NULL: the defaults */
	struct name_table table;
	struct runtimes_stats stats;
	const atomic_bool *stop; /* ends a scan early, nothing is withdrawn then */
	int cancel_fd;           /* ends a request early */
	unsigned source;         /* that is at work: its rank */
	const char *source_name;
	unsigned budget; /* containers that may still be read */
	struct docker_api *docker_api, *podman_api;
	uint64_t list_stamps[SCAN_LISTS];
};

int scan_init(struct scan *scan, const struct runtimes_options *options,
	      struct directory *directory, const atomic_bool *stop, int cancel_fd);
/* But for what sources hold: scan_sources_release(). */
void scan_release(struct scan *scan);

/* ---- for the sources ---- */

/* 0 if one more container may be read; -E2BIG: the budget is spent; -ECANCELED. */
int scan_take(struct scan *scan);
/* A names_fn; userdata is a struct scan_put. A lack of room never ends a reading. */
struct scan_put {
	struct scan *scan;
	uint64_t stamp;
	const char *id; /* that the names must be of; NULL any */
};
int scan_put(void *userdata, const struct container_names *names);
/* The same for an element of a list: scan_take() first. */
int scan_put_listed(void *userdata, const struct container_names *names);

typedef int scan_parse_fn(const char *text, size_t len, const char *id, names_fn *fn,
			  void *userdata);
/*
 * Reads the file that names container @id and enters its names, unless it is known by @stamp.
 * Returns as scan_take(); a missing or bad file affects only that container.
 */
int scan_container(struct scan *scan, int dirfd, const char *path, const char *id, uint64_t stamp,
		   scan_parse_fn *parse);
/* Opens a directory at a configured path; -ENOENT: it does not exist. */
int scan_open(struct scan *scan, const char *path);
/* Stores a message about the newest failure. */
void scan_error(struct scan *scan, int error, const char *what);

/* ---- one source each: 0 read, -ENOENT there is no such runtime, else it failed ---- */

int scan_containerd(struct scan *scan);
int scan_storage(struct scan *scan); /* Podman's containers */
int scan_crio(struct scan *scan);
int scan_docker(struct scan *scan);
int scan_docker_api(struct scan *scan);
int scan_podman_api(struct scan *scan);
/* Frees the state that the two above keep between scans; returns NULL. */
struct docker_api *docker_api_free(struct docker_api *api);
