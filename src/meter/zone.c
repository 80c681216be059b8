// SPDX-License-Identifier: Apache-2.0
/* The words for kinds and states of zones, as metric names and labels have them, and limits. */
#include "meter/meter.h"

#include "base/macro.h"

const char *zone_kind_name(enum zone_kind kind)
{
	static const char *const names[ZONE_KIND_COUNT] = {
		[ZONE_PACKAGE] = "package", [ZONE_CORE] = "core", [ZONE_UNCORE] = "uncore",
		[ZONE_DRAM] = "dram",       [ZONE_PSYS] = "psys", [ZONE_PLATFORM] = "platform",
	};

	return (unsigned)kind < ZONE_KIND_COUNT ? names[kind] : "unknown";
}

const char *zone_state_name(enum zone_state state)
{
	static const char *const names[] = {
		[ZONE_UP] = "up",           [ZONE_ABSENT] = "absent",   [ZONE_ERROR] = "error",
		[ZONE_STALLED] = "stalled", [ZONE_REFUSED] = "refused",
	};

	return (unsigned)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

uint64_t zone_kind_max_power_uw(enum zone_kind kind)
{
	static const uint64_t watts[ZONE_KIND_COUNT] = {
		[ZONE_PACKAGE] = 2000, [ZONE_CORE] = 2000,  [ZONE_UNCORE] = 2000,
		[ZONE_DRAM] = 1000,    [ZONE_PSYS] = 20000, [ZONE_PLATFORM] = 20000,
	};

	return watts[kind] * 1000000;
}
