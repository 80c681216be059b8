/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup hierarchy that cgroup ids are taken from. On a pure v2 system there is one. On v1 and
 * hybrid systems each controller has its own, with its own ids, and processes may lie at the root
 * of one and deep in another.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIERARCHY_NAME_MAX 32

struct hierarchy {
	bool is_one_of_several;              /* v1 or hybrid: others may show more */
	bool is_part;                        /* not all of it: a container's own view */
	int fd;                              /* its root, or -1: there is none */
	char controller[HIERARCHY_NAME_MAX]; /* "" for v2 */
	char root[256];                      /* path of fd, as the kernel reports it */
};

/*
 * Chooses among the hierarchies mounted at and below @cgroupfs. Never fails; without a cgroup file
 * system fd is -1.
 */
void hierarchy_open(const char *cgroupfs, struct hierarchy *ret);
void hierarchy_release(struct hierarchy *hierarchy);

/*
 * The path of cgroup @id below the hierarchy's root, "/" for the root itself. Length, or -errno:
 * -ESTALE when it is gone, -EPERM without CAP_DAC_READ_SEARCH. When only a part is mounted, -EXDEV
 * for the root of that part, since its place is unknown; paths below it are relative to it.
 */
int hierarchy_path(const struct hierarchy *hierarchy, uint64_t id, char *buf, size_t size);
/*
 * True if the cgroup at @path, as hierarchy_path() returns it, exists; false if only a part is
 * mounted.
 */
bool hierarchy_has(const struct hierarchy *hierarchy, const char *path);
