// SPDX-License-Identifier: Apache-2.0
#include "meter/rapl/rapl_name.h"

#include "tests/unit/unit.h"

static void check(const char *text, enum zone_kind kind, bool has_package, const char *package)
{
	struct rapl_name name;

	if (!rapl_name_parse(text, strlen(text), &name))
		fail_msg("%s is not taken", text);
	assert_int_equal(name.kind, kind);
	assert_int_equal(name.has_package, has_package);
	assert_string_equal(name.package, package);
}

static void test_names_of_the_kernel(void **state)
{
	check("package-0\n", ZONE_PACKAGE, true, "0");
	check("package-11", ZONE_PACKAGE, true, "11");
	check("package-1-die-0\n", ZONE_PACKAGE, true, "1-die-0");
	check("core\n", ZONE_CORE, false, "");
	check("uncore\n", ZONE_UNCORE, false, "");
	check("dram\n", ZONE_DRAM, false, "");
	check("psys\n", ZONE_PSYS, true, "0");
	check("psys-1\n", ZONE_PSYS, true, "1");
}

static void test_other_names_are_refused(void **state)
{
	static const char *const bad[] = {
		"",           "\n",           "package",
		"package-",   "package-x",    "package0",
		"package-0 ", "Package-0",    "package-0\n\n",
		"core-0",     "cores",        "dram-0",
		"gpu",        "package-0\"",  "package-0-die-0000000001",
		"package--1", "package-0\nx", "psys-",
	};
	struct rapl_name name;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (rapl_name_parse(bad[i], strlen(bad[i]), &name))
			fail_msg("'%s' is taken", bad[i]);
	}
	assert_false(rapl_name_parse("package-0\0", 10, &name));
}

static void test_parent_by_directory_name(void **state)
{
	char parent[16];

	assert_true(rapl_dir_parent("intel-rapl:0:1", parent, sizeof(parent)));
	assert_string_equal(parent, "intel-rapl:0");
	assert_false(rapl_dir_parent("intel-rapl:0", parent, sizeof(parent)));
	assert_false(rapl_dir_parent("intel-rapl", parent, sizeof(parent)));
	assert_false(rapl_dir_parent("intel-rapl-mmio:0:1", parent, sizeof(parent)));
}

static void test_instances_by_place(void **state)
{
	const struct cpu_place place = { 1, 2 };
	char instance[ZONE_INSTANCE_MAX];

	rapl_zone_instance(ZONE_PACKAGE, &place, false, instance);
	assert_string_equal(instance, "1");
	rapl_zone_instance(ZONE_DRAM, &place, true, instance);
	assert_string_equal(instance, "1-die-2");
	rapl_zone_instance(ZONE_PSYS, &place, true, instance);
	assert_string_equal(instance, "1");
}

static void test_memory_mapped_twin(void **state)
{
	assert_true(rapl_dir_is_mmio("intel-rapl-mmio:0"));
	assert_false(rapl_dir_is_mmio("intel-rapl:0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_the_kernel),
		cmocka_unit_test(test_other_names_are_refused),
		cmocka_unit_test(test_parent_by_directory_name),
		cmocka_unit_test(test_instances_by_place),
		cmocka_unit_test(test_memory_mapped_twin),
	};

	return unit_run(tests);
}
