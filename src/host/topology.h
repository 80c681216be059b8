/* SPDX-License-Identifier: Apache-2.0 */
/* Online CPUs, cores and sockets from SYSFS/devices/system/cpu. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct topology {
	unsigned cpus, cores, sockets; /* 0: unknown */
};

/* 0 or -ENOMEM; a tree without CPUs gives zeros. */
int topology_read(const char *sysfs, struct topology *ret);

/*
 * Calls @fn with each online CPU and its physical_package_id; CPUs without one are left out. A tree
 * without CPUs has none.
 */
typedef void topology_cpu_fn(void *userdata, unsigned cpu, uint32_t package);
void topology_visit(const char *sysfs, topology_cpu_fn *fn, void *userdata);

/*
 * Where a CPU is: its physical_package_id, and its die in it; 0 where the kernel knows of no dies
 * (before 5.2). False where that is not known, as of a CPU that is offline.
 */
struct cpu_place {
	uint32_t package, die;
};
bool topology_place(const char *sysfs, unsigned cpu, struct cpu_place *ret);

/*
 * True if @cpu is the first of its core's CPUs that are online (thread_siblings_list). False where
 * that is not known.
 */
bool topology_is_first_of_core(const char *sysfs, unsigned cpu);

/*
 * Writes the first @max CPUs in a list like "0-3,8,10-11\n"; their number, 0 when it is not a list.
 * Pure.
 */
size_t topology_list_cpus(const char *list, unsigned *ret_cpus, size_t max);
/* Number of CPUs in a list like "0-3,8,10-11\n"; 0 when it is not a list. Pure. */
unsigned topology_count_cpus(const char *list);
