/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which CPU is in which socket: SYSFS/devices/system/cpu/cpuN/topology/physical_package_id, the
 * number that RAPL also has in the names of its zones.
 *
 * A socket has a fixed place, counted from 0 in the order in which sockets were found: sums per
 * socket are arrays indexed by place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCKETS_MAX 16
#define SOCKET_NONE UINT32_MAX

struct cpu_sockets {
	uint32_t count;             /* sockets; 0: unknown */
	bool beyond;                /* more than places: sockets of their CPUs are unknown */
	uint32_t id[SOCKETS_MAX];   /* physical_package_id */
	uint32_t cpus[SOCKETS_MAX]; /* online now, in each */
	uint32_t cpu_count;         /* as many are in of_cpu */
	uint8_t *of_cpu;            /* place of the CPU's socket; UINT8_MAX: not known */
};

/*
 * Reads the tree, again when CPUs came or went: known sockets keep their places, and a CPU that is
 * gone keeps its socket. A tree without sockets leaves none. 0 or -ENOMEM.
 */
int cpu_sockets_read(const char *sysfs, struct cpu_sockets *sockets);
void cpu_sockets_release(struct cpu_sockets *sockets);
/*
 * True if work is to be counted per socket: there are several, and a place for each. If some had no
 * place, their work would be counted for the others. False for NULL.
 */
bool cpu_sockets_differ(const struct cpu_sockets *sockets);
/* The place of the socket with @id, or SOCKET_NONE. */
uint32_t cpu_sockets_find(const struct cpu_sockets *sockets, uint32_t id);
/* The place of @cpu's socket, or SOCKET_NONE. */
static inline uint32_t cpu_sockets_of(const struct cpu_sockets *sockets, uint32_t cpu)
{
	uint8_t place = cpu < sockets->cpu_count ? sockets->of_cpu[cpu] : UINT8_MAX;

	return place == UINT8_MAX ? SOCKET_NONE : place;
}
