// SPDX-License-Identifier: Apache-2.0
/* The PMU as kernels of several machines show it, and files that are not as they should be. */
#include "base/num.h"
#include "meter/rapl/rapl_pmu.h"
#include "rapl_tree.h"
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

static void test_no_pmu(void **state)
{
	const struct fake_tree *tree = *state;
	struct rapl_pmu pmu;

	assert_false(rapl_pmu_exists(tree->sysfs));
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), -ENOENT);
}

/* Linux 6.1 on a client of Intel. */
static void test_all_events(void **state)
{
	static const struct {
		const char *name;
		const char *config;
	} files[] = {
		{ "energy-cores", "event=0x01\n" }, { "energy-pkg", "event=0x02\n" },
		{ "energy-ram", "event=0x03\n" },   { "energy-gpu", "event=0x04\n" },
		{ "energy-psys", "event=0x05\n" },
	};
	static const struct {
		enum zone_kind kind;
		uint64_t config;
	} expected[] = { { ZONE_PACKAGE, 2 },
			 { ZONE_CORE, 1 },
			 { ZONE_UNCORE, 4 },
			 { ZONE_DRAM, 3 },
			 { ZONE_PSYS, 5 } };
	const struct fake_tree *tree = *state;
	struct rapl_pmu pmu;

	rapl_put_pmu(tree, "0\n");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		rapl_put_event(tree, files[i].name, files[i].config);
	assert_true(rapl_pmu_exists(tree->sysfs));
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), 0);
	assert_int_equal(pmu.type, 10);
	assert_int_equal(pmu.event_count, ARRAY_SIZE(expected));
	assert_int_equal(pmu.unknown_count, 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(pmu.events[i].kind, expected[i].kind);
		assert_int_equal(pmu.events[i].config, expected[i].config);
		assert_int_equal(pmu.events[i].unit, UJ_PER_J << 32);
	}
	assert_int_equal(pmu.cpu_count, 1);
	assert_int_equal(pmu.cpus[0], 0);
}

/* Linux 6.14 on AMD with two sockets: the package alone; energy of cores is of another PMU. */
static void test_package_alone(void **state)
{
	const struct fake_tree *tree = *state;
	struct rapl_pmu pmu;

	rapl_put_pmu(tree, "0,64\n");
	rapl_put_event(tree, "energy-pkg", "event=0x02\n");
	rapl_put(tree, "bus/event_source/devices/power_core/events/energy-core", "event=0x01\n");
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), 0);
	assert_int_equal(pmu.event_count, 1);
	assert_int_equal(pmu.events[0].kind, ZONE_PACKAGE);
	assert_int_equal(pmu.cpu_count, 2);
	assert_int_equal(pmu.cpus[1], 64);
}

static void test_files_that_are_otherwise(void **state)
{
	static const struct {
		const char *name, *text;
		int result;
	} files[] = {
		{ PMU "type", "ten\n", -EINVAL },
		{ PMU "type", "10", -EBADMSG },
		{ PMU "type", "4294967296\n", -EBADMSG },
		{ PMU "format/event", "config:0-15\n", -EBADMSG },
	};
	const struct fake_tree *tree = *state;
	struct rapl_pmu pmu;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		rapl_put_pmu(tree, "0\n");
		rapl_put(tree, files[i].name, files[i].text);
		assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), files[i].result);
	}
	rapl_put_pmu(tree, "nonsense\n");
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), 0);
	assert_int_equal(pmu.cpu_count, 0);
	tree_drop(tree, "../../" PMU "cpumask");
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), -ENOENT);
}

static void test_events_that_are_otherwise(void **state)
{
	const struct fake_tree *tree = *state;
	struct rapl_pmu pmu;

	rapl_put_pmu(tree, "0\n");
	rapl_put_event(tree, "energy-pkg", "event=0x02\n");
	rapl_put_event(tree, "energy-ram", "event=0x03,umask=0x1\n");
	rapl_put_event(tree, "energy-psys", "event=0x05\n");
	rapl_put(tree, PMU "events/energy-psys.unit", "Watts\n");
	rapl_put_event(tree, "energy-gpu", "event=0x04\n");
	tree_drop(tree, "../../" PMU "events/energy-gpu.scale");
	assert_int_equal(rapl_pmu_read(tree->sysfs, &pmu), 0);
	assert_int_equal(pmu.event_count, 1);
	assert_int_equal(pmu.unknown_count, 3);
}

static void test_configs(void **state)
{
	static const char *const bad[] = {
		"",          "\n",          "event=0x\n",    "event=0x02",   "event=0x123\n",
		"event=2\n", "event=0xg\n", "event=0x02 \n", "umask=0x02\n",
	};
	uint64_t config = 7;

	assert_int_equal(rapl_pmu_config_parse("event=0xa1\n", 11, &config), 0);
	assert_int_equal(config, 0xa1);
	assert_int_equal(rapl_pmu_config_parse(NULL, -EIO, &config), -EIO);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(rapl_pmu_config_parse(bad[i], (ssize_t)strlen(bad[i]), &config),
				 -EBADMSG);
	assert_int_equal(rapl_pmu_config_parse("event=0x1\0\n", 11, &config), -EBADMSG);
	assert_int_equal(config, 0xa1);
}

/* A counter of 64 bits is 2^32 J, and its microjoules start again at exactly there. */
static void test_scales(void **state)
{
	static const struct {
		const char *text;
		int result;
	} table[] = {
		{ "0\n", -ERANGE },     { "-1e-10\n", -ERANGE }, { "1e-6\n", -ERANGE },
		{ "1\n", -ERANGE },     { "x\n", -EBADMSG },     { "1e-10", -EBADMSG },
		{ "1e-30\n", -ERANGE },
	};
	uint64_t unit = 0;

	assert_int_equal(rapl_pmu_scale_parse(SCALE, sizeof(SCALE) - 1, &unit), 0);
	assert_int_equal(unit, UJ_PER_J << 32);
	assert_int_equal(rapl_pmu_energy_uj(COUNT_J, unit), UJ_PER_J);
	assert_int_equal(rapl_pmu_energy_uj(4294, unit), 0);
	assert_int_equal(rapl_pmu_energy_uj(4295, unit), 1);
	assert_int_equal(rapl_pmu_energy_uj(UINT64_MAX, unit), rapl_pmu_range_uj(unit));
	assert_int_equal(rapl_pmu_range_uj(unit), (UJ_PER_J << 32) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(
			rapl_pmu_scale_parse(table[i].text, (ssize_t)strlen(table[i].text), &unit),
			table[i].result);
	assert_int_equal(unit, UJ_PER_J << 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TREE_TEST(test_no_pmu),
		TREE_TEST(test_all_events),
		TREE_TEST(test_package_alone),
		TREE_TEST(test_files_that_are_otherwise),
		TREE_TEST(test_events_that_are_otherwise),
		cmocka_unit_test(test_configs),
		cmocka_unit_test(test_scales),
	};

	return unit_run(tests);
}
