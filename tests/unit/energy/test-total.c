// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

#define FOUND_MAX 8

/* One zone of a set, as "package-0", or with another source than RAPL "platform@redfish". */
static struct zone zone_named(const char *text, bool estimated)
{
	struct zone zone = { .source = "rapl-sysfs" };
	char kind[16];

	assert_int_equal(sscanf(text, "%15[a-z]", kind), 1);
	while (strcmp(zone_kind_name(zone.kind), kind) != 0)
		zone.kind++;
	text += strlen(kind);
	if (*text == '-')
		(void)snprintf(zone.instance, sizeof(zone.instance), "%c", text[1]);
	if (strchr(text, '@'))
		zone.source = strchr(text, '@') + 1;
	if (estimated) {
		zone.quality = QUALITY_ESTIMATED;
		zone.source = "trained_power_model";
	}
	return zone;
}

/* Zones in the order in which they are found; "|" is between those that are found at once. */
struct machine {
	const char *what;
	const char *found[FOUND_MAX]; /* "~platform" is estimated */
	const char *in_total;         /* one character each, "+" those that are in it */
};

static const struct machine machines[] = {
	{ "nothing", { NULL }, "" },
	{ "a package only", { "package-0" }, "+" },
	{ "a package with its parts", { "package-0", "core-0", "uncore-0" }, "+--" },
	{ "a package and dram", { "package-0", "core-0", "dram-0" }, "+-+" },
	{ "two sockets", { "package-0", "package-1", "dram-0", "dram-1", "core-1" }, "++++-" },
	{ "parts without a package", { "core-0", "uncore-0", "dram-0" }, "+++" },
	{ "psys has all of it", { "package-0", "core-0", "dram-0", "psys" }, "---+" },
	{ "so has platform, psys as well", { "psys", "package-0", "platform" }, "--+" },
	{ "an estimate alone", { "~platform" }, "+" },
	{ "no estimate where anything is measured", { "~platform", "dram-0" }, "-+" },
	{ "the first source of a kind", { "package-0@msr", "package-1@tpmi", "dram-0" }, "+-+" },
	{ "and its rival", { "package-0@msr", "package-0@tpmi", "dram-0" }, "+++" },
	{ "a better whole of another source", { "package-0", "dram-0", "platform@bmc" }, "--+" },
	{ "a socket comes online", { "package-0", "|", "package-1", "dram-1" }, "+++" },
	{ "dram is found later", { "package-0", "|", "dram-0" }, "++" },
	{ "a part is found later", { "package-0", "|", "core-0" }, "+-" },
	{ "what is counted stays, psys", { "package-0", "|", "psys" }, "+-" },
	{ "what is counted stays, package", { "core-0", "dram-0", "|", "package-0" }, "++-" },
	{ "what is counted stays, platform", { "psys", "|", "package-0", "platform" }, "+--" },
	{ "meters take over", { "~platform", "|", "package-0", "core-0", "dram-0" }, "++-+" },
	{ "and more are found", { "~platform", "|", "package-0", "|", "psys", "dram-0" }, "++-+" },
	{ "a source beside", { "package-0", "|", "package-1@tpmi", "dram-0@tpmi" }, "+-+" },
	{ "a rival", { "package-0", "|", "package-0@tpmi" }, "++" },
};

static void check(const struct machine *machine)
{
	struct zone zones[FOUND_MAX];
	const struct zone *list[FOUND_MAX];
	bool in_total[FOUND_MAX];
	char said[FOUND_MAX + 1] = "";
	size_t known = 0, count = 0;

	memset(in_total, 0xff, sizeof(in_total));
	for (size_t i = 0; i < FOUND_MAX && machine->found[i]; i++) {
		const char *text = machine->found[i];

		if (*text == '|') {
			total_choose(list, known, count, in_total);
			known = count;
			continue;
		}
		zones[count] = zone_named(text + (*text == '~'), *text == '~');
		list[count] = &zones[count];
		count++;
	}
	total_choose(list, known, count, in_total);
	for (size_t z = 0; z < count; z++)
		said[z] = in_total[z] ? '+' : '-';
	if (strcmp(said, machine->in_total) != 0) {
		print_error("%s: %s, not %s\n", machine->what, said, machine->in_total);
		fail();
	}
}

static void of_each_machine_the_outermost_zones(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		check(&machines[i]);
}

/* What a kind's energy is made of, by its leaves: no bit may be twice in what one source counts. */
static const unsigned leaves[ZONE_KIND_COUNT] = {
	[ZONE_CORE] = 1, [ZONE_UNCORE] = 2, [ZONE_PACKAGE] = 7,
	[ZONE_DRAM] = 8, [ZONE_PSYS] = 31,  [ZONE_PLATFORM] = 63,
};

static bool is_wrong(const struct zone *zones, const bool in_total[], size_t count)
{
	unsigned counted = 0, offered = 0;
	bool measured = false;

	for (size_t z = 0; z < count; z++) {
		offered |= leaves[zones[z].kind];
		if (!in_total[z])
			continue;
		measured = true;
		if (counted & leaves[zones[z].kind])
			return true;
		counted |= leaves[zones[z].kind];
	}
	return counted != offered || measured != (count > 0);
}

/* Found at once and of one socket: all that is measured is in the total, and nothing twice. */
static void any_set_is_counted_whole_and_once(void **state)
{
	(void)state;
	for (unsigned set = 0; set < 1U << ZONE_KIND_COUNT; set++) {
		struct zone zones[ZONE_KIND_COUNT];
		const struct zone *list[ZONE_KIND_COUNT];
		bool in_total[ZONE_KIND_COUNT];
		size_t count = 0;

		for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
			if (!(set & 1U << kind))
				continue;
			zones[count] = (struct zone){ .kind = kind, .source = "rapl-sysfs" };
			list[count] = &zones[count];
			count++;
		}
		total_choose(list, 0, count, in_total);
		if (is_wrong(zones, in_total, count))
			fail_msg("set %#x", set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_machine_the_outermost_zones),
		cmocka_unit_test(any_set_is_counted_whole_and_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
