// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/rapl_registers.h"

#include <math.h>

#include "tests/unit/unit.h"

static const struct rapl_processor skylake = { "GenuineIntel", 6, 0x55 };

static void near(double value, double expected)
{
	assert_true(fabs(value / expected - 1) < 1e-9);
}

static void units_have_exceptions(void **state)
{
	static const struct rapl_processor sapphire = { "GenuineIntel", 6, 0x8f },
					   atom = { "GenuineIntel", 6, 0x37 },
					   zen = { "AuthenticAMD", 0x19, 1 };

	near(truth_register_unit(&skylake, "package", 0xa0e03), 1.0 / 16384);
	near(truth_register_unit(&skylake, "dram", 0xa0e03), 15.3e-6);
	near(truth_register_unit(&sapphire, "dram", 0xa0e03), 1.0 / 16384);
	near(truth_register_unit(&sapphire, "psys", 0xa0e03), 1);
	near(truth_register_unit(&atom, "package", 0x505), 32e-6);
	near(truth_register_unit(&zen, "package", 0xa1003), 1.0 / 65536);
}

/* A counter of an unknown model in an unknown unit is left out. */
static void unknown_units_are_left_out(void **state)
{
	static const struct rapl_processor later = { "GenuineIntel", 6, 0xee },
					   other = { "GenuineIntel", 15, 1 };
	struct truth_registers registers;

	assert_true(truth_registers_find(&skylake, &registers));
	assert_int_equal(registers.count, 5);
	assert_true(truth_registers_find(&later, &registers));
	assert_int_equal(registers.count, 3);
	assert_false(truth_registers_find(&other, &registers));
}

static void a_processor_is_read(void **state)
{
	struct rapl_processor processor;

	assert_true(truth_processor_parse("processor\t: 0\nvendor_id\t: AuthenticAMD\n"
					  "cpu family\t: 25\nmodel\t\t: 33\nmodel name\t: x\n",
					  &processor));
	assert_string_equal(processor.vendor, "AuthenticAMD");
	assert_int_equal(processor.family, 0x19);
	assert_int_equal(processor.model, 33);
	assert_false(truth_processor_parse("vendor_id: x\n", &processor));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_have_exceptions),
		cmocka_unit_test(unknown_units_are_left_out),
		cmocka_unit_test(a_processor_is_read),
	};
	return unit_run(tests);
}
