// SPDX-License-Identifier: Apache-2.0
#include "energy/total.h"

#include "tests/unit/unit.h"

#define FOUND_MAX 8

/* One zone of a set, as "package-0", or with another source than RAPL "platform@redfish". */
static struct zone zone_named(const char *text, bool estimated)
{
	struct zone zone = { .source = "rapl-sysfs", .has_gpus = *text == '+' };
	char kind[16];

	text += *text == '+';
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
	zone.rank = estimated                           ? RANK_ESTIMATED
		    : strcmp(zone.source, "share") == 0 ? RANK_SHARE
							: RANK_MEASURED;
	if (estimated) {
		zone.quality = QUALITY_ESTIMATED;
		zone.source = "trained_power_model";
	}
	return zone;
}

/* Zones in the order in which they are found; "|" is between those that are found at once. */
struct machine {
	const char *what;
	const char *found[FOUND_MAX]; /* "~platform" is estimated, "+psys" has GPUs in it */
	const char *totals;           /* one character each: the total's number, "-" in none */
};

static const struct machine machines[] = {
	{ "nothing", { NULL }, "" },
	{ "a package only", { "package-0" }, "1" },
	{ "a package with its parts", { "package-0", "core-0", "uncore-0" }, "1--" },
	{ "a package and dram", { "package-0", "core-0", "dram-0" }, "1-1" },
	{ "two sockets", { "package-0", "package-1", "dram-0", "dram-1", "core-1" }, "1111-" },
	{ "parts without a package", { "core-0", "uncore-0", "dram-0" }, "111" },
	{ "parts and not psys", { "package-0", "core-0", "dram-0", "psys" }, "1-1-" },
	{ "nor platform", { "psys", "package-0", "platform" }, "-1-" },
	{ "a whole without parts", { "platform" }, "1" },
	{ "the inner whole", { "platform", "psys" }, "-1" },
	{ "what the parts leave", { "platform", "package-0", "other@remainder" }, "-12" },
	{ "found behind them", { "platform", "package-0", "|", "other@remainder" }, "-12" },
	{ "an estimate alone", { "~platform" }, "1" },
	{ "estimates of parts", { "~platform", "~package", "~dram", "|", "~other" }, "-111" },
	{ "an estimate of a part, found later", { "~platform", "|", "~dram" }, "1-" },
	{ "no estimate where anything is measured", { "~platform", "dram-0" }, "-1" },
	{ "the first source of a kind", { "platform-1@ipmi", "platform-2@redfish" }, "1-" },
	{ "sockets of two sources", { "package-0@msr", "package-1@tpmi", "dram-0" }, "123" },
	{ "and its rival", { "package-0@msr", "package-0@tpmi", "dram-0" }, "123" },
	{ "a whole of another source", { "package-0", "dram-0", "platform@bmc" }, "11-" },
	{ "a socket comes online", { "package-0", "|", "package-1", "dram-1" }, "111" },
	{ "dram is found later", { "package-0", "|", "dram-0" }, "11" },
	{ "a part is found later", { "package-0", "|", "core-0" }, "1-" },
	{ "what is counted stays, psys", { "package-0", "|", "psys" }, "1-" },
	{ "what is counted stays, package", { "core-0", "dram-0", "|", "package-0" }, "11-" },
	{ "what is counted stays, platform", { "psys", "|", "package-0", "platform" }, "1--" },
	{ "meters take over", { "~platform", "|", "package-0", "core-0", "dram-0" }, "12-2" },
	{ "and more are found", { "~platform", "|", "package-0", "|", "psys", "dram-0" }, "12-2" },
	{ "a source beside", { "package-0", "|", "package-1@tpmi", "dram-0@tpmi" }, "122" },
	{ "a rival", { "package-0", "|", "package-0@tpmi" }, "12" },
	{ "rivals",
	  { "package-0@msr", "package-1@msr", "package-1@tpmi", "package-0@tpmi" },
	  "1122" },
	{ "rivals, one by one",
	  { "package-0@a", "|", "package-1@a", "package-0@b", "|", "package-1@b" },
	  "1122" },
	{ "a part of another socket", { "package-0", "core-1", "dram-1" }, "1-1" },
	{ "one of those alike overlaps",
	  { "package-1-die-0@a", "package-0@b", "package-1@b" },
	  "1--" },
	{ "GPUs beside packages", { "package-0", "dram-0", "gpu-a@nvml", "gpu-b@nvml" }, "1122" },
	{ "GPUs in a platform", { "platform@bmc", "gpu-a@nvml" }, "-1" },
	{ "GPUs beside a psys", { "psys", "gpu-a@nvml" }, "12" },
	{ "GPUs in a psys", { "+psys", "gpu-a@nvml" }, "-1" },
	{ "GPUs, found later", { "platform", "|", "gpu-a@nvml" }, "1-" },
	{ "GPUs beside a psys, found later", { "psys", "|", "gpu-a@nvml" }, "12" },
	{ "an estimate in place of shares",
	  { "package-0@share", "dram-0@share", "|", "~platform" },
	  "112" },
	{ "an estimate has none", { "~platform", "gpu-a@nvml" }, "12" },
	{ "nothing but a GPU", { "gpu-a@nvml" }, "1" },
	{ "one that is alike", { "package-0", "|", "psys@a", "|", "package-1", "psys@a" }, "1-1-" },
};

static void check(const struct machine *machine)
{
	struct zone zones[FOUND_MAX];
	const struct zone *list[FOUND_MAX];
	uint32_t total[FOUND_MAX], totals, most = 0;
	char said[FOUND_MAX + 1] = "";
	size_t known = 0, count = 0;

	memset(total, 0xff, sizeof(total));
	for (size_t i = 0; i < FOUND_MAX && machine->found[i]; i++) {
		const char *text = machine->found[i];

		if (*text == '|') {
			(void)total_choose(list, known, count, PSYS_GPUS_AUTO, total);
			known = count;
			continue;
		}
		zones[count] = zone_named(text + (*text == '~'), *text == '~');
		list[count] = &zones[count];
		count++;
	}
	totals = total_choose(list, known, count, PSYS_GPUS_AUTO, total);
	for (size_t z = 0; z < count; z++) {
		said[z] = total[z] == TOTAL_NONE ? '-' : (char)('0' + total[z]);
		most = total[z] > most ? total[z] : most;
	}
	if (strcmp(said, machine->totals) != 0 || totals != most)
		fail_msg("%s: %s, %u, not %s", machine->what, said, totals, machine->totals);
}

static void of_each_machine_the_parts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		check(&machines[i]);
}

/* The parts of a kind's energy, by its leaves: no bit may be twice in the sum of one source. */
static const unsigned leaves[ZONE_KIND_COUNT] = {
	[ZONE_CORE] = 1,  [ZONE_UNCORE] = 2,     [ZONE_PACKAGE] = 7, [ZONE_DRAM] = 8,
	[ZONE_PSYS] = 31, [ZONE_PLATFORM] = 127, [ZONE_GPU] = 64,
};

static bool is_wrong(const struct zone *zones, const uint32_t total[], size_t count)
{
	unsigned counted = 0, offered = 0;
	bool some = false;

	for (size_t z = 0; z < count; z++) {
		if (!zone_kind_info[zones[z].kind].is_whole)
			offered |= leaves[zones[z].kind];
		if (total[z] == TOTAL_NONE)
			continue;
		some = true;
		if (counted & leaves[zones[z].kind])
			return true;
		counted |= leaves[zones[z].kind];
	}
	return offered & ~counted || some != (count > 0);
}

/* Found at once and of one socket: each part is in the total, and nothing twice. */
static void any_set_is_counted_whole_and_once(void **state)
{
	for (unsigned set = 0; set < 1U << ZONE_KIND_COUNT; set++) {
		struct zone zones[ZONE_KIND_COUNT];
		const struct zone *list[ZONE_KIND_COUNT];
		uint32_t total[ZONE_KIND_COUNT];
		size_t count = 0;

		for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
			if (!(set & 1U << kind))
				continue;
			zones[count] = (struct zone){ .kind = kind, .source = "rapl-sysfs" };
			list[count] = &zones[count];
			count++;
		}
		(void)total_choose(list, 0, count, PSYS_GPUS_AUTO, total);
		if (is_wrong(zones, total, count))
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
static bool is_wrong_of_sockets(const struct zone *zones, const uint32_t total[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct zone *a = &zones[i], *b = &zones[j];
			bool both = total[i] != TOTAL_NONE && total[j] != TOTAL_NONE;
			bool shared = a->domain.number == b->domain.number &&
				      leaves[a->kind] & leaves[b->kind];

			if (a->source == b->source && a->kind == b->kind && total[i] != total[j])
				return true;
			if (both && shared && (a->source == b->source || a->kind != b->kind))
				return true;
		}
	}
	return false;
}

/* Any zones of two sources and sockets; any number of them is found before the others. */
static void what_a_row_sums_is_in_it_as_a_whole(void **state)
{
	for (unsigned set = 1; set < 1U << (2 * HALF); set++) {
		struct zone zones[2 * HALF];
		const struct zone *list[2 * HALF];
		uint32_t total[2 * HALF];
		size_t count = 0;

		for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
			if (!(set & 1U << i))
				continue;
			zones[count] = zone_of_pair(i);
			list[count] = &zones[count];
			count++;
		}
		for (size_t known = 0; known < count; known++) {
			(void)total_choose(list, 0, known, PSYS_GPUS_AUTO, total);
			(void)total_choose(list, known, count, PSYS_GPUS_AUTO, total);
			if (is_wrong_of_sockets(zones, total, count))
				fail_msg("set %#x, %zu known", set, known);
		}
	}
}

static void a_person_may_say_where_gpus_are(void **state)
{
	struct zone zones[] = { zone_named("psys", false), zone_named("+psys", false),
				zone_named("gpu-a@nvml", false), zone_named("platform", false),
				zone_named("package-0", false) };

	assert_false(total_zone_is_in(&zones[2], &zones[0], PSYS_GPUS_AUTO));
	assert_true(total_zone_is_in(&zones[2], &zones[0], PSYS_GPUS_INSIDE));
	assert_true(total_zone_is_in(&zones[2], &zones[1], PSYS_GPUS_AUTO));
	assert_false(total_zone_is_in(&zones[2], &zones[1], PSYS_GPUS_BESIDE));
	for (enum psys_gpus where = PSYS_GPUS_AUTO; where <= PSYS_GPUS_BESIDE; where++) {
		assert_true(total_zone_is_in(&zones[2], &zones[3], where));
		assert_true(total_zone_is_in(&zones[4], &zones[0], where));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_machine_the_parts),
		cmocka_unit_test(a_person_may_say_where_gpus_are),
		cmocka_unit_test(any_set_is_counted_whole_and_once),
		cmocka_unit_test(what_a_row_sums_is_in_it_as_a_whole),
	};

	return unit_run(tests);
}
