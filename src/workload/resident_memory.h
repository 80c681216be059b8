/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory each cgroup holds, as the kernel's memory controller counts it, page cache
 * included. Values change slowly and each takes three system calls, so a value is kept for a time,
 * and few are read at once.
 *
 * With v2 it is memory.current, which includes cgroups below; there processes are in cgroups
 * without others below them only. With v1 it is the cgroup's own part in memory.stat, at the same
 * path in the hierarchy of that controller as in the hierarchy of the ids. A cgroup without such a
 * file has no value.
 *
 * On a machine with several sockets memory.numa_stat says on which nodes that memory lies. It
 * counts less than the value, so that it only divides that: what it leaves out lies as the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/numa_nodes.h"

#define RESIDENT_CGROUPS_MAX 4096
#define RESIDENT_READS       64 /* in one refresh */

struct resident_cgroup {
	uint64_t cgroup_id;
	uint64_t read_ns; /* when it was read, or looked for */
	int64_t bytes;    /* -1: no value */
	bool is_placed;   /* it is known at which sockets they are */
};

struct resident_memory;

/* 0 or -errno: -ENODEV without a cgroup file system or a memory controller. */
int resident_memory_open(const char *cgroupfs, uint64_t every_ns, struct resident_memory **ret);
void resident_memory_close(struct resident_memory *memory);
/* From the next reading on, cgroups have their memory by socket; without nodes they have not. */
void resident_memory_tell_nodes(struct resident_memory *memory, const struct numa_nodes *nodes);
/* A cgroup in which processes run. Beyond the limit it is not followed. */
void resident_memory_follow(struct resident_memory *memory, uint64_t cgroup_id);
/* Reads what is due; a cgroup that is gone is followed no more. */
void resident_memory_refresh(struct resident_memory *memory, uint64_t now_ns);
/* The known memory; valid until the next call of the above. */
const struct resident_cgroup *resident_memory_list(const struct resident_memory *memory,
						   size_t *ret_count);
/*
 * [SOCKETS_MAX], the bytes at each socket of the cgroup at @index of the list, which is_placed;
 * those of nodes without a socket are not in it. Valid as long as the list.
 */
const uint64_t *resident_memory_places(const struct resident_memory *memory, size_t index);

/* Pure: of the text of a v1 memory.stat, the cgroup's own memory in bytes, or -1. */
int64_t resident_memory_of_stat(const char *text);
