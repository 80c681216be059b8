/* SPDX-License-Identifier: Apache-2.0 */
/* Lists SYSFS/class/hwmon: the channels there that show energy or power, whatever they measure. */
#pragma once

#include <stddef.h>

#include "meter/hwmon/hwmon_rule.h"

/* Sensors beyond these limits are left out: a tree given by --host.sysfs may hold anything. */
#define HWMON_CHIPS_MAX    256
#define HWMON_CHANNELS_MAX 4096

struct hwmon_found {
	struct hwmon_channel channel;
	char *dir_path; /* of its files: hwmonN, or hwmonN/device */
};

struct hwmon_scan {
	/* Sorted by how they are read (energy first), extent, device, chip and number. */
	struct hwmon_found *found;
	size_t count;
};

/*
 * 0, also when there is no hwmon at all, or -ENOMEM. The result is given; hwmon_scan_release()
 * frees it.
 */
int hwmon_scan_read(const char *sysfs, struct hwmon_scan *ret);
void hwmon_scan_release(struct hwmon_scan *scan);
