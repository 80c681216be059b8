/* SPDX-License-Identifier: Apache-2.0 */
/* Online CPUs, cores and sockets from SYSFS/devices/system/cpu. */
#pragma once

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

/* Number of CPUs in a list like "0-3,8,10-11\n"; 0 when it is not a list. Pure. */
unsigned topology_count_cpus(const char *list);
