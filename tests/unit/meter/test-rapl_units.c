// SPDX-License-Identifier: Apache-2.0
/* Units against values worked out by hand from the manuals' formulas. */
#include "meter/rapl/rapl_units.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define UNIT_14 0xa0e03 /* as most processors since Haswell have it: ESU 14 */

static void test_units_by_model(void **state)
{
	static const struct {
		const char *what, *vendor;
		unsigned family, model;
		uint64_t unit_value;
		/* 1,000,000 counts in µJ. */
		uint64_t package_uj, dram_uj, psys_uj;
	} table[] = {
		{ "Skylake", "GenuineIntel", 6, 0x5e, UNIT_14, 61035156, 61035156, 61035156 },
		{ "Sandy Bridge", "GenuineIntel", 6, 0x2a, 0xa1003, 15258789, 15258789, 15258789 },
		{ "Haswell-X", "GenuineIntel", 6, 0x3f, UNIT_14, 61035156, 15299999, 61035156 },
		{ "Broadwell-D", "GenuineIntel", 6, 0x56, UNIT_14, 61035156, 61035156, 61035156 },
		{ "Skylake-X", "GenuineIntel", 6, 0x55, UNIT_14, 61035156, 15299999, 61035156 },
		{ "Ice Lake-X", "GenuineIntel", 6, 0x6a, UNIT_14, 61035156, 15299999, 61035156 },
		{ "Sapphire Rapids", "GenuineIntel", 6, 0x8f, UNIT_14, 61035156, 61035156,
		  1000000000000 },
		{ "Silvermont", "GenuineIntel", 6, 0x37, 0x505, 32000000, 32000000, 32000000 },
		{ "Goldmont", "GenuineIntel", 6, 0x5c, UNIT_14, 61035156, 61035156, 61035156 },
		{ "Zen 3", "AuthenticAMD", 0x19, 1, 0xa1003, 15258789, 15258789, 15258789 },
		{ "Hygon", "HygonGenuine", 0x18, 0, 0xa1003, 15258789, 15258789, 15258789 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct rapl_cpu *cpu =
			rapl_cpu_find(table[i].vendor, table[i].family, table[i].model);
		const struct {
			enum zone_kind kind;
			uint64_t uj;
		} zones[] = { { ZONE_PACKAGE, table[i].package_uj },
			      { ZONE_DRAM, table[i].dram_uj },
			      { ZONE_PSYS, table[i].psys_uj } };

		assert_non_null(cpu);
		for (size_t z = 0; z < ARRAY_SIZE(zones); z++) {
			uint64_t unit = rapl_unit(cpu, zones[z].kind, table[i].unit_value);
			uint64_t uj = rapl_register_uj(1000000, unit);

			if (uj != zones[z].uj)
				fail_msg("%s, %s: %lu µJ", table[i].what,
					 zone_kind_name(zones[z].kind), uj);
		}
	}
}

static void test_processors_that_are_not_known(void **state)
{
	static const struct {
		const char *vendor;
		unsigned family, model;
	} table[] = { { "GenuineIntel", 6, 0 },       { "GenuineIntel", 6, 0x0f },
		      { "GenuineIntel", 6, 0x15e },   { "GenuineIntel", 15, 0x5e },
		      { "AuthenticAMD", 0x16, 0x30 }, { "AuthenticAMD", 0x18, 0 },
		      { "HygonGenuine", 0x17, 1 },    { "", 6, 0x5e },
		      { "ARM", 0x41, 0xd0c } };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_null(rapl_cpu_find(table[i].vendor, table[i].family, table[i].model));
}

static void test_registers(void **state)
{
	const struct rapl_cpu *intel = rapl_cpu_find("GenuineIntel", 6, 0x55);
	const struct rapl_cpu *amd = rapl_cpu_find("AuthenticAMD", 0x17, 0x31);

	assert_int_equal(intel->unit_msr, 0x606);
	assert_int_equal(intel->register_count, 5);
	assert_true(intel->is_by_die);
	assert_int_equal(amd->unit_msr, 0xc0010299);
	assert_int_equal(amd->register_count, 1);
	assert_int_equal(amd->registers[0].msr, 0xc001029b);
	assert_false(amd->is_by_die);
}

/* The whole register, and the step after it, are the unit in µJ: no wrap loses any. */
static void test_a_turn_is_the_unit(void **state)
{
	const struct rapl_cpu *cpu = rapl_cpu_find("GenuineIntel", 6, 0x5e);
	uint64_t unit = rapl_unit(cpu, ZONE_PACKAGE, UNIT_14);

	assert_int_equal(unit, 262144 * UJ_PER_J);
	assert_int_equal(rapl_register_uj(UINT32_MAX, unit), unit - 62);
	/* Bits above the counter are reserved. */
	assert_int_equal(rapl_register_uj(0xdead000000004000, unit), UJ_PER_J);
	/* The finest unit that can be written. */
	unit = rapl_unit(cpu, ZONE_PACKAGE, 0x1f00);
	assert_int_equal(unit, 2 * UJ_PER_J);
	assert_true(rapl_register_uj(UINT32_MAX, unit) < unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_by_model),
		cmocka_unit_test(test_processors_that_are_not_known),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_a_turn_is_the_unit),
	};

	return unit_run(tests);
}
