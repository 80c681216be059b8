/* SPDX-License-Identifier: Apache-2.0 */
/* Zones for a ledger, each of another kind, so that each has columns of its own: idle ones, too. */
#pragma once

#include <errno.h>

#include "attribution/ledger.h"

static const struct zone test_zones[ZONE_KIND_COUNT] = {
	{ .kind = ZONE_PACKAGE, .source = "test" }, { .kind = ZONE_CORE, .source = "test" },
	{ .kind = ZONE_UNCORE, .source = "test" },  { .kind = ZONE_DRAM, .source = "test" },
	{ .kind = ZONE_PSYS, .source = "test" },    { .kind = ZONE_PLATFORM, .source = "test" },
	{ .kind = ZONE_GPU, .source = "test" },
};

/* Until the ledger has @zones of them. 0 or -ENOMEM. */
static inline int test_add_zones(struct ledger *ledger, uint32_t zones)
{
	int r = ledger_bear_idle(ledger);

	while (r == 0 && ledger_zones(ledger) < zones)
		r = ledger_add_zone(ledger, &test_zones[ledger_zones(ledger)]);
	return r;
}
