// SPDX-License-Identifier: Apache-2.0
#include "truth/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "truth/meter_list.h"
#include "truth/meter_search.h"
#include "truth/meters/msr_meter.h"
#include "truth/meters/perf_meter.h"

static const char *const kinds[] = { "package", "core", "uncore", "dram", "psys" };

static void add_kind(struct truth_inventory *inventory, const char *kind)
{
	if (truth_inventory_has(inventory, kind) || inventory->count == TRUTH_ZONES_MAX)
		return;
	(void)snprintf(inventory->kinds[inventory->count++], TRUTH_KIND_MAX, "%s", kind);
}

/* Moves the kinds of @found to the inventory. */
static void take(struct truth *found, struct truth_inventory *inventory)
{
	for (size_t i = 0; i < found->meter_count; i++) {
		add_kind(inventory, found->meters[i].kind);
		truth_meter_release(&found->meters[i]);
	}
	found->meter_count = 0;
}

static bool has_other_meters(const char *sysfs, struct truth *found)
{
	char path[TRUTH_PATH_MAX];

	search_hwmon(sysfs, false, found);
	bool has_meter = found->meter_count > 0;
	for (size_t i = 0; i < found->meter_count; i++)
		truth_meter_release(&found->meters[i]);
	found->meter_count = 0;
	return has_meter || (path_join(path, sizeof(path), sysfs, "cray/pm_counters") == 0 &&
			     access(path, F_OK) == 0);
}

int truth_inventory_make(const struct truth_options *options, struct truth_inventory *ret)
{
	CLEANUP_FREE struct truth *found = calloc(1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	ret->count = 0;
	search_rapl_sysfs(options->sysfs, found);
	take(found, ret);
	truth_search_msr(options, found);
	take(found, ret);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (truth_perf_has(options->sysfs, kinds[i]))
			add_kind(ret, kinds[i]);
	ret->has_other = has_other_meters(options->sysfs, found);
	return 0;
}

bool truth_inventory_has(const struct truth_inventory *inventory, const char *kind)
{
	for (size_t i = 0; i < inventory->count; i++)
		if (strcmp(inventory->kinds[i], kind) == 0)
			return true;
	return false;
}
