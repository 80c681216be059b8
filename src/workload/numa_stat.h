/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which NUMA node the memory of a cgroup lies: its file memory.numa_stat. With v2 each line is a
 * kind of memory, in bytes ("anon N0=4096 N1=0"), and some kinds are parts of others; with v1 the
 * line "total=" has all of the cgroup's own, in pages. Only proportions are asked for, so that the
 * unit does not matter.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/numa_nodes.h"

/*
 * Pure: the memory on each node, 0 on those that the text does not name. Nodes above the limit are
 * in *ret_sum only. False where the text has no memory on any node.
 */
bool numa_stat_parse(const char *text, bool is_v2, uint64_t nodes[NUMA_NODES_MAX],
		     uint64_t *ret_sum);
