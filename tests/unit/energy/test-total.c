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
		(void)snprintf(zone.instance, sizeof(zone.instance), "%.*s",
			       (int)strcspn(text + 1, "@"), text + 1);
	zone.domain = zone_domain(zone.kind, zone.instance);
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
	{ "the first source of a kind", { "platform-1@ipmi", "platform-2@redfish" }, "+-" },
	{ "sockets of two sources", { "package-0@msr", "package-1@tpmi", "dram-0" }, "+++" },
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
	{ "a source beside", { "package-0", "|", "package-1@tpmi", "dram-0@tpmi" }, "+++" },
	{ "a rival", { "package-0", "|", "package-0@tpmi" }, "++" },
	{ "rivals",
	  { "package-0@msr", "package-1@msr", "package-1@tpmi", "package-0@tpmi" },
	  "++++" },
	{ "rivals, one by one",
	  { "package-0@a", "|", "package-1@a", "package-0@b", "|", "package-1@b" },
	  "++++" },
	{ "a part of another socket", { "package-0", "core-1", "dram-1" }, "+-+" },
	{ "one of those alike overlaps",
	  { "package-1-die-0@a", "package-0@b", "package-1@b" },
	  "+--" },
	{ "one that is alike", { "package-0", "|", "psys@a", "|", "package-1", "psys@a" }, "+-+-" },
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

#define HALF 6 /* zones of a source: package, core and dram of two sockets */

static struct zone zone_of_pair(size_t i)
{
	static const enum zone_kind kinds[] = { ZONE_PACKAGE, ZONE_CORE, ZONE_DRAM };
	struct zone zone = { .kind = kinds[i % HALF / 2], .source = i < HALF ? "a" : "b" };

	zone.instance[0] = (char)('0' + i % 2);
	zone.domain = zone_domain(zone.kind, zone.instance);
	return zone;
}

/* All zones of a row's sum are in it, or none is, and in no socket is anything in it twice. */
static bool is_wrong_of_sockets(const struct zone *zones, const bool in_total[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct zone *a = &zones[i], *b = &zones[j];
			bool both = in_total[i] && in_total[j];
			bool shared = a->domain.package == b->domain.package &&
				      leaves[a->kind] & leaves[b->kind];

			if (a->source == b->source && a->kind == b->kind &&
			    in_total[i] != in_total[j])
				return true;
			if (both && shared && (a->source == b->source || a->kind != b->kind))
				return true;
		}
	}
	return false;
}

/* Any zones of two sources and sockets, of which any number is found before the others. */
static void what_a_row_sums_is_in_it_as_a_whole(void **state)
{
	(void)state;
	for (unsigned set = 1; set < 1U << (2 * HALF); set++) {
		struct zone zones[2 * HALF];
		const struct zone *list[2 * HALF];
		bool in_total[2 * HALF];
		size_t count = 0;

		for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
			if (!(set & 1U << i))
				continue;
			zones[count] = zone_of_pair(i);
			list[count] = &zones[count];
			count++;
		}
		for (size_t known = 0; known < count; known++) {
			total_choose(list, 0, known, in_total);
			total_choose(list, known, count, in_total);
			if (is_wrong_of_sockets(zones, in_total, count))
				fail_msg("set %#x, %zu known", set, known);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_machine_the_outermost_zones),
		cmocka_unit_test(any_set_is_counted_whole_and_once),
		cmocka_unit_test(what_a_row_sums_is_in_it_as_a_whole),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
