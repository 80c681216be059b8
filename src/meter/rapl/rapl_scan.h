/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks SYSFS/class/powercap and says which RAPL zones are there now: one entry a zone, however
 * often the tree shows it. Of two interfaces to the same counter (MSR and memory-mapped) it is one
 * that can be read, of these one that moves, and of these the MSR.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "energy/zone.h"

#define RAPL_PATH_MAX 4096

struct rapl_found {
	enum zone_kind kind;
	char instance[ZONE_INSTANCE_MAX];
	char dir_name[ZONE_PATH_MAX]; /* "intel-rapl:0:1" */
	char dir_path[RAPL_PATH_MAX]; /* where it was reached */
	int fault;                    /* its counter cannot be read (2), or stands still (1) */
	bool is_better;               /* than its twin, whose fault is worse */
};

struct rapl_scan {
	struct rapl_found *zones; /* sorted by kind, then instance */
	size_t count;
	size_t ignored; /* duplicates, unknown names, beyond METER_ZONES_MAX */
};

/*
 * 0, also when there is no powercap at all, or -ENOMEM. The result is given; rapl_scan_release()
 * frees it.
 */
int rapl_scan_read(const char *sysfs, struct rapl_scan *ret);
void rapl_scan_release(struct rapl_scan *scan);
