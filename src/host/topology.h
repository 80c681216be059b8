/* SPDX-License-Identifier: Apache-2.0 */
/* Online CPUs, cores and sockets from SYSFS/devices/system/cpu. */
#pragma once

struct topology {
	unsigned cpus, cores, sockets; /* 0: the tree does not say */
};

/* 0 or -ENOMEM; a tree without CPUs gives zeros. */
int topology_read(const char *sysfs, struct topology *ret);

/* Number of CPUs in a list like "0-3,8,10-11\n"; 0 when it is none. Pure. */
unsigned topology_count_cpus(const char *list);
