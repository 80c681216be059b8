/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NUMA node's memory is at which socket: SYSFS/devices/system/node/nodeN/cpulist names the
 * CPUs next to it. A socket may have several nodes. A node without CPUs, like memory of a CXL
 * device, belongs to no socket; neither does a node whose CPUs are all offline.
 */
#pragma once

#include <stdint.h>

#include "host/cpu_sockets.h"

#define NUMA_NODES_MAX 64 /* memory of nodes above is at no socket */

struct numa_nodes {
	uint32_t count;                /* that are at a socket; 0: nothing is known of nodes */
	uint8_t place[NUMA_NODES_MAX]; /* of the socket in struct cpu_sockets; UINT8_MAX: none */
};

/*
 * With fewer than two sockets, or where a node has CPUs of several, because the machine spreads its
 * memory over them, @ret has none.
 */
void numa_nodes_read(const char *sysfs, const struct cpu_sockets *sockets, struct numa_nodes *ret);
