// SPDX-License-Identifier: Apache-2.0
#include "truth/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "truth/meter_list.h"
#include "truth/meter_search.h"
#include "truth/meters/msr_meter.h"
#include "truth/meters/perf_meter.h"
#include "truth/timed_file.h"

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
	CLEANUP(timed_names_release) struct timed_names names = { 0 };
	char path[TRUTH_PATH_MAX];

	search_hwmon(sysfs, false, found);
	bool has_meter = found->meter_count > 0;
	for (size_t i = 0; i < found->meter_count; i++)
		truth_meter_release(&found->meters[i]);
	found->meter_count = 0;
	return has_meter || (path_join(path, sizeof(path), sysfs, "cray/pm_counters") == 0 &&
			     timed_folder_read(path, &names) == 0);
}

int truth_inventory_make(const struct truth_options *options, struct truth_inventory *ret)
{
	CLEANUP_FREE struct truth *found = calloc(1, sizeof(*found));
	const char *perf_kinds[PERF_KINDS];

	if (!found)
		return -ENOMEM;
	ret->count = 0;
	search_rapl_sysfs(options->sysfs, found);
	take(found, ret);
	truth_search_msr(options, found);
	take(found, ret);
	size_t perf_count = truth_perf_kinds(options->sysfs, found, perf_kinds);
	for (size_t i = 0; i < perf_count; i++)
		add_kind(ret, perf_kinds[i]);
	/* A folder that did not answer may have a meter, too. */
	ret->has_other = has_other_meters(options->sysfs, found) || found->stalled[0];
	return 0;
}

bool truth_inventory_has(const struct truth_inventory *inventory, const char *kind)
{
	for (size_t i = 0; i < inventory->count; i++)
		if (strcmp(inventory->kinds[i], kind) == 0)
			return true;
	return false;
}
