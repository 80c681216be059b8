// SPDX-License-Identifier: Apache-2.0
#include "energy/zone.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define WATTS 1000000ULL /* in µW */

const struct zone_kind_info zone_kind_info[ZONE_KIND_COUNT] = {
	[ZONE_PACKAGE] = { "package", ZONE_PSYS, .is_metered = true, .max_power_uw = 2000 * WATTS },
	[ZONE_CORE] = { "core", ZONE_PACKAGE, .is_metered = true, .max_power_uw = 2000 * WATTS },
	[ZONE_UNCORE] = { "uncore", ZONE_PACKAGE, .is_metered = true,
			  .max_power_uw = 2000 * WATTS },
	[ZONE_DRAM] = { "dram", ZONE_PSYS, .is_metered = true, .max_power_uw = 1000 * WATTS },
	[ZONE_PSYS] = { "psys", ZONE_PLATFORM, .is_whole = true, .is_metered = true,
			.max_power_uw = 20000 * WATTS },
	[ZONE_PLATFORM] = { "platform", ZONE_PLATFORM, .is_whole = true, .is_metered = true,
			    .max_power_uw = 20000 * WATTS },
	[ZONE_GPU] = { "gpu", ZONE_PSYS, .is_device = true, .is_metered = true,
		       .max_power_uw = 4000 * WATTS },
	[ZONE_OTHER] = { "other", ZONE_PLATFORM, .max_power_uw = 20000 * WATTS },
};

const char *zone_kind_name(enum zone_kind kind)
{
	return (unsigned)kind < ZONE_KIND_COUNT ? zone_kind_info[kind].name : "unknown";
}

const char *zone_state_name(enum zone_state state)
{
	static const char *const names[] = {
		[ZONE_UP] = "up",           [ZONE_ABSENT] = "absent", [ZONE_ERROR] = "error",
		[ZONE_STALLED] = "stalled", [ZONE_MISSED] = "missed", [ZONE_REFUSED] = "refused",
	};

	return (unsigned)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

const char *zone_quality_name(enum zone_quality quality)
{
	return quality == QUALITY_ESTIMATED ? "estimated" : "measured";
}

const char *zone_caveat_name(enum zone_caveat caveat)
{
	static const char *const names[] = {
		[CAVEAT_NONE] = "",
		[CAVEAT_INACTIVE] = "inactive",
		[CAVEAT_OUTPUT] = "output",
		[CAVEAT_AMBIGUOUS] = "ambiguous",
		[CAVEAT_LATE] = "late",
		[CAVEAT_VIRTUAL] = "virtual",
		[CAVEAT_CLAIMED] = SOURCE_HOST_CLAIMED,
		[CAVEAT_FILTERED] = "filtered",
	};

	return names[caveat];
}

const char *zone_scope_name(enum zone_scope scope)
{
	return scope == SCOPE_VM_DYNAMIC ? "vm_dynamic" : "node";
}

bool zone_is_modelled(const struct zone *zone)
{
	return zone->rank >= RANK_REST;
}

bool zone_are_alike(const struct zone *a, const struct zone *b)
{
	return a->kind == b->kind && a->quality == b->quality && strcmp(a->source, b->source) == 0;
}

struct domain zone_domain(enum zone_kind kind, const char *instance)
{
	size_t digits = strspn(instance, "0123456789");
	uint64_t package;

	if (zone_kind_info[kind].is_whole || zone_kind_info[kind].is_device ||
	    parse_u64(instance, digits, &package) < 0 || package > UINT32_MAX)
		return (struct domain){ .kind = DOMAIN_NODE };
	return (struct domain){ DOMAIN_SOCKET, (uint32_t)package };
}

void zone_id(const struct zone *zone, char ret[ZONE_ID_MAX])
{
	(void)snprintf(ret, ZONE_ID_MAX, "%s%s%s", zone_kind_name(zone->kind),
		       zone->instance[0] ? "-" : "", zone->instance);
}

bool zone_instance_of_number(const char *number, size_t len, char ret[static ZONE_INSTANCE_MAX])
{
	for (size_t i = 0; i < len; i++) {
		if (number[i] < '0' || number[i] > '9')
			return false;
	}
	for (; len > 1 && *number == '0'; len--)
		number++;
	if (!len || len >= ZONE_PACKAGE_MAX)
		return false;
	memcpy(ret, number, len);
	ret[len] = '\0';
	return true;
}

bool zone_id_parse(const char *text, size_t len, enum zone_kind *ret_kind,
		   char ret_instance[static ZONE_INSTANCE_MAX])
{
	const char *dash = memchr(text, '-', len);
	size_t kind_len = dash ? (size_t)(dash - text) : len;

	for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		const char *name = zone_kind_name(kind);

		if (zone_kind_info[kind].is_device || !zone_kind_info[kind].is_metered ||
		    strlen(name) != kind_len || memcmp(name, text, kind_len) != 0)
			continue;
		*ret_kind = kind;
		ret_instance[0] = '\0';
		return !dash || zone_instance_of_number(dash + 1, len - kind_len - 1, ret_instance);
	}
	return false;
}

bool zone_has_id(const struct zone *zone, const char *id)
{
	char own[ZONE_ID_MAX];

	zone_id(zone, own);
	return strcmp(id, own) == 0 || strcmp(id, zone_kind_name(zone->kind)) == 0;
}

bool zone_is_inside(const struct zone *part, const struct zone *whole)
{
	return whole->kind == ZONE_PACKAGE && part->kind != whole->kind &&
	       zone_kind_info[part->kind].whole == whole->kind &&
	       strcmp(part->instance, whole->instance) == 0 &&
	       strcmp(part->source, whole->source) == 0;
}
