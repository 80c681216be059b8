// SPDX-License-Identifier: Apache-2.0
#include "meter/rapl/rapl_scan.h"

#include "fake_tree.h"
#include "tests/unit/unit.h"

static int setup(void **state)
{
	static struct fake_tree tree;

	tree_make(&tree);
	*state = &tree;
	return 0;
}

static int teardown(void **state)
{
	tree_remove(*state);
	return 0;
}

struct expected {
	enum zone_kind kind;
	const char *instance;
	const char *dir_name;
};

static void check(const struct fake_tree *tree, const struct expected *expected, size_t count,
		  size_t ignored)
{
	struct rapl_scan scan;

	assert_int_equal(rapl_scan_read(tree->sysfs, &scan), 0);
	assert_int_equal(scan.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(scan.zones[i].kind, expected[i].kind);
		assert_string_equal(scan.zones[i].instance, expected[i].instance);
		assert_string_equal(scan.zones[i].dir_name, expected[i].dir_name);
	}
	assert_int_equal(scan.ignored, ignored);
	rapl_scan_release(&scan);
	assert_null(scan.zones);
}

static void test_no_powercap_is_no_error(void **state)
{
	struct fake_tree *tree = *state;

	check(tree, NULL, 0, 0);
	(void)remove_tree(tree->sysfs);
	check(tree, NULL, 0, 0);
}

/* As the unmodified driver shows it on a machine with two sockets: psys sits at index 1. */
static void test_two_packages_with_psys_between(void **state)
{
	static const struct expected expected[] = {
		{ ZONE_PACKAGE, "0", "intel-rapl:0" },  { ZONE_PACKAGE, "1", "intel-rapl:2" },
		{ ZONE_CORE, "0", "intel-rapl:0:0" },   { ZONE_CORE, "1", "intel-rapl:2:0" },
		{ ZONE_UNCORE, "0", "intel-rapl:0:1" }, { ZONE_DRAM, "0", "intel-rapl:0:2" },
		{ ZONE_DRAM, "1", "intel-rapl:2:1" },   { ZONE_PSYS, "0", "intel-rapl:1" },
		{ ZONE_PSYS, "1", "intel-rapl:3" },
	};
	struct fake_tree *tree = *state;

	tree_mkdir(tree, "intel-rapl"); /* the control type: no zone */
	tree_write(tree, "intel-rapl", "enabled", "1\n");
	tree_zone(tree, "intel-rapl/intel-rapl:0", "package-0", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:0/intel-rapl:0:0", "core", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:0/intel-rapl:0:1", "uncore", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:0/intel-rapl:0:2", "dram", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:1", "psys", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:2", "package-1", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:2/intel-rapl:2:0", "core", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:2/intel-rapl:2:1", "dram", 1);
	tree_zone(tree, "intel-rapl/intel-rapl:3", "psys-1", 1);
	check(tree, expected, ARRAY_SIZE(expected), 0);
}

/* The class directory links to every zone, and each zone links back to the class. */
static void test_symlinks_show_a_zone_once(void **state)
{
	static const struct expected expected[] = {
		{ ZONE_PACKAGE, "0", "intel-rapl:0" },
		{ ZONE_CORE, "0", "intel-rapl:0:0" },
	};
	struct fake_tree *tree = *state;

	tree_mkdir(tree, "../../devices");
	tree_mkdir(tree, "../../devices/intel-rapl");
	tree_zone(tree, "../../devices/intel-rapl/intel-rapl:0", "package-0", 1);
	tree_zone(tree, "../../devices/intel-rapl/intel-rapl:0/intel-rapl:0:0", "core", 1);
	tree_link(tree, "intel-rapl", "../../devices/intel-rapl");
	tree_link(tree, "intel-rapl:0", "../../devices/intel-rapl/intel-rapl:0");
	tree_link(tree, "intel-rapl:0:0", "../../devices/intel-rapl/intel-rapl:0/intel-rapl:0:0");
	tree_link(tree, "../../devices/intel-rapl/intel-rapl:0/subsystem",
		  "../../../class/powercap");
	tree_link(tree, "../../devices/intel-rapl/intel-rapl:0/loop", "..");
	check(tree, expected, ARRAY_SIZE(expected), 0);
}

static void test_copied_tree_counts_duplicates_as_ignored(void **state)
{
	static const struct expected expected[] = {
		{ ZONE_PACKAGE, "0", "intel-rapl:0" },
		{ ZONE_CORE, "0", "intel-rapl:0:0" },
	};
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl:0", "package-0", 1);
	tree_zone(tree, "intel-rapl:0/intel-rapl:0:0", "core", 1);
	tree_zone(tree, "intel-rapl:0:0", "core", 1);
	check(tree, expected, ARRAY_SIZE(expected), 1);
}

static void test_memory_mapped_duplicate_is_left_out(void **state)
{
	static const struct expected expected[] = { { ZONE_PACKAGE, "0", "intel-rapl:0" } };
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl-mmio:0", "package-0", 1);
	tree_zone(tree, "intel-rapl:0", "package-0", 1);
	check(tree, expected, ARRAY_SIZE(expected), 1);
}

/* An interface that shows the counter and cannot read it gives way to its twin. */
static void test_a_readable_twin_is_taken(void **state)
{
	static const struct expected mapped[] = { { ZONE_PACKAGE, "0", "intel-rapl-mmio:0" } };
	static const struct expected neither[] = { { ZONE_PACKAGE, "0", "intel-rapl:0" } };
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl:0", "package-0", 1);
	tree_zone(tree, "intel-rapl-mmio:0", "package-0", 1);
	tree_write(tree, "intel-rapl:0", "energy_uj", "");
	check(tree, mapped, ARRAY_SIZE(mapped), 1);
	tree_write(tree, "intel-rapl-mmio:0", "energy_uj", "x\n");
	check(tree, neither, ARRAY_SIZE(neither), 1);
}

static void test_memory_mapped_alone_is_taken(void **state)
{
	static const struct expected expected[] = { { ZONE_PACKAGE, "0", "intel-rapl-mmio:0" } };
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl-mmio:0", "package-0", 1);
	check(tree, expected, ARRAY_SIZE(expected), 0);
}

static void test_dies_stay_apart(void **state)
{
	static const struct expected expected[] = {
		{ ZONE_PACKAGE, "0-die-0", "intel-rapl:0" },
		{ ZONE_PACKAGE, "0-die-1", "intel-rapl:1" },
		{ ZONE_PACKAGE, "1-die-0", "intel-rapl:2" },
		{ ZONE_DRAM, "0-die-1", "intel-rapl:1:0" },
	};
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl:0", "package-0-die-0", 1);
	tree_zone(tree, "intel-rapl:1", "package-0-die-1", 1);
	tree_zone(tree, "intel-rapl:1/intel-rapl:1:0", "dram", 1);
	tree_zone(tree, "intel-rapl:2", "package-1-die-0", 1);
	check(tree, expected, ARRAY_SIZE(expected), 0);
}

static void test_only_dram(void **state)
{
	static const struct expected expected[] = { { ZONE_DRAM, "0", "intel-rapl:0" } };
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl:0", "dram", 1);
	check(tree, expected, ARRAY_SIZE(expected), 0);
}

static void test_unknown_and_nameless_zones_are_ignored(void **state)
{
	static const struct expected expected[] = { { ZONE_PACKAGE, "0", "intel-rapl:0" } };
	struct fake_tree *tree = *state;

	tree_zone(tree, "intel-rapl:0", "package-0", 1);
	tree_zone(tree, "intel-rapl:1", "warp-core", 1);
	tree_mkdir(tree, "intel-rapl:2");
	tree_energy(tree, "intel-rapl:2", 1);
	check(tree, expected, ARRAY_SIZE(expected), 2);
}

static void test_more_zones_than_we_take(void **state)
{
	struct fake_tree *tree = *state;
	struct rapl_scan scan;

	for (unsigned i = 0; i < METER_ZONES_MAX + 6; i++) {
		char dir[32], name[32];

		(void)snprintf(dir, sizeof(dir), "intel-rapl:%u", i);
		(void)snprintf(name, sizeof(name), "package-%u", i);
		tree_zone(tree, dir, name, 1);
	}
	assert_int_equal(rapl_scan_read(tree->sysfs, &scan), 0);
	assert_int_equal(scan.count, METER_ZONES_MAX);
	assert_int_equal(scan.ignored, 6);
	assert_string_equal(scan.zones[10].instance, "10"); /* by number, not by letter */
	rapl_scan_release(&scan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_no_powercap_is_no_error),
		TREE_TEST(test_two_packages_with_psys_between),
		TREE_TEST(test_symlinks_show_a_zone_once),
		TREE_TEST(test_copied_tree_counts_duplicates_as_ignored),
		TREE_TEST(test_memory_mapped_duplicate_is_left_out),
		TREE_TEST(test_a_readable_twin_is_taken),
		TREE_TEST(test_memory_mapped_alone_is_taken),
		TREE_TEST(test_dies_stay_apart),
		TREE_TEST(test_only_dram),
		TREE_TEST(test_unknown_and_nameless_zones_are_ignored),
		TREE_TEST(test_more_zones_than_we_take),
	};

	return unit_run(tests);
}
