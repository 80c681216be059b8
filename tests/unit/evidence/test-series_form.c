// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_form.h"

#include "tests/unit/unit.h"

static void names_have_kinds_and_units(void **state)
{
	static const struct {
		const char *name;
		bool is_counter;
		double factor;
		const char *unit;
	} cases[] = {
		{ "kepler_node_package_joules_total", true, 1, "W" },
		{ "sum(rate(kepler_node_package_joules_total[20s]))", false, 1, "W" },
		{ "sum(irate(node_rapl_package_joules_total[1m]))", false, 1, "W" },
		{ "kepler_node_cpu_watts", false, 1, "W" },
		{ "scaph_host_power_microwatts", false, 1e-6, "W" },
		{ "scaph_host_energy_microjoules", true, 1e-6, "W" },
		{ "energy_uj", true, 1e-6, "W" },
		{ "power", false, 1, "W" },
		{ "meter_kwh", true, 3.6e6, "W" },
		{ "kepler_vm_bpf_cpu_time_ms_total", true, 1, "units/s" },
		{ "gpu_mW", false, 1e-3, "W" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series_form form = series_form_of(cases[i].name, SERIES_AUTO);
		if (form.is_counter != cases[i].is_counter ||
		    fabs(form.factor - cases[i].factor) > 1e-12 ||
		    strcmp(form.unit, cases[i].unit) != 0)
			fail_msg("%s: %d %g %s", cases[i].name, form.is_counter, form.factor,
				 form.unit);
	}
	assert_false(series_form_of("joules_total", SERIES_RATE).is_counter);
	assert_true(series_form_of("power", SERIES_COUNTER).is_counter);
}

static void times_have_many_spellings(void **state)
{
	static const char *const same[] = { "1731387366.25",
					    "1731387366250",
					    "1731387366250000",
					    "1731387366250000000",
					    "2024-11-12T04:56:06.25Z",
					    "2024-11-12 04:56:06.25",
					    "2024-11-12T04:56:06.25+00:00" };
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (!(fabs(series_time_s(same[i]) - 1731387366.25) < 1e-3))
			fail_msg("%s: %f", same[i], series_time_s(same[i]));
	assert_true(isnan(series_time_s("noon")));
	assert_true(isnan(series_time_s("2024-11-12")));
	assert_true(isnan(series_time_s("2024-11-12T04:56:06+02:00")));
}

static void values_can_be_infinite(void **state)
{
	double value;

	assert_true(series_value("1e3", &value) && fabs(value - 1000) < 1e-9);
	assert_true(series_value("-2.5", &value) && fabs(value + 2.5) < 1e-9);
	assert_true(series_value("Infinity", &value) && isnan(value));
	assert_true(series_value("NaN", &value) && isnan(value));
	assert_true(series_value("", &value) && isnan(value));
	assert_false(series_value("5 W", &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_kinds_and_units),
		cmocka_unit_test(times_have_many_spellings),
		cmocka_unit_test(values_can_be_infinite),
	};
	return unit_run(tests);
}
