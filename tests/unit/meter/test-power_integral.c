// SPDX-License-Identifier: Apache-2.0
/* Power over time against the same product in 128 bits, made at once. */
#include "meter/power_integral.h"

#include "base/num.h"
#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static void what_is_less_than_a_microjoule_is_carried(void **state)
{
	struct power_integral integral = { 0 };

	/* 1 W for 1 ns is a thousandth of a microjoule */
	for (int i = 1; i < 1000; i++)
		assert_int_equal(power_integral_add(&integral, 1000000, 1), 0);
	assert_int_equal(power_integral_add(&integral, 1000000, 1), 1);
	assert_int_equal(integral.carry_uw_ns, 0);
}

static void no_power_and_no_time_are_no_energy(void **state)
{
	struct power_integral integral = { 999999999 };

	assert_int_equal(power_integral_add(&integral, 0, UINT64_MAX), 0);
	assert_int_equal(power_integral_add(&integral, UINT64_MAX, 0), 0);
	assert_int_equal(integral.carry_uw_ns, 999999999);
}

/* Any power, which changes at any moment: the sum is exact except for the carried part. */
static const char *nothing_drifts(struct property_source *source, void *userdata)
{
	struct power_integral integral = { 0 };
	unsigned __int128 truth = 0;
	uint64_t sum_uj = 0;

	(void)userdata;
	for (uint64_t steps = draw_below(source, 200); steps > 0; steps--) {
		uint64_t power_uw = draw_below(source, 2000000000); /* up to 2 kW */
		uint64_t dt_ns = draw_below(source, 20 * NSEC_PER_SEC);

		truth += (unsigned __int128)power_uw * dt_ns;
		sum_uj += power_integral_add(&integral, power_uw, dt_ns);
		if (integral.carry_uw_ns >= NSEC_PER_SEC)
			return "a whole microjoule is carried";
	}
	return truth == (unsigned __int128)sum_uj * NSEC_PER_SEC + integral.carry_uw_ns
		       ? NULL
		       : "the parts are not the whole";
}

static void test_nothing_drifts(void **state)
{
	assert_true(property_check("power_integral", nothing_drifts, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_less_than_a_microjoule_is_carried),
		cmocka_unit_test(no_power_and_no_time_are_no_energy),
		cmocka_unit_test(test_nothing_drifts),
	};

	return unit_run(tests);
}
