/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of sysfs that says which meters a machine has and how they behave: powercap, hwmon, the
 * PMU "power", Cray's counters, GPUs, frequencies, topology and the type of the machine. It has no
 * serial number, no asset tag, no UUID and no hardware address: it reads a fixed list of files.
 *
 * As text, a line a file, sorted, at its real path below sysfs:
 *
 *	devices/virtual/powercap/intel-rapl/intel-rapl:0/name = package-0
 *	class/powercap/intel-rapl:0 -> ../../devices/virtual/powercap/intel-rapl/intel-rapl:0
 *	class/hwmon/hwmon1/power1_average ! Permission denied
 */
#pragma once

#include <stdint.h>

#include "base/strbuf.h"

#define SYSFS_SHAPE_FILES_MAX 4096 /* further ones are counted */

enum sysfs_shape_part {
	SYSFS_SHAPE_ALL,
	SYSFS_SHAPE_VALUES, /* energies and powers alone, to be compared with an earlier reading */
};

/*
 * Reads on a thread of its own, because a driver can hang: -ETIMEDOUT if it has not ended after
 * @limit_ns, and the thread is abandoned; or another -errno, such as -ENOMEM.
 */
int sysfs_shape_read(const char *sysfs, enum sysfs_shape_part part, uint64_t limit_ns,
		     struct strbuf *ret);
