// SPDX-License-Identifier: Apache-2.0
#include "model/feature.h"

#include "tests/unit/unit.h"

static void test_units_and_load(void **state)
{
	assert_true(feature_find("bpf_cpu_time_ms")->is_load);
	assert_false(feature_find("cpu_scaling_frequency_hertz")->is_load);
	assert_string_equal(feature_unit("bpf_cpu_time_ms"), "ms/s");
	assert_false(feature_find("cpu_steal_seconds")->is_load);
	assert_string_equal(feature_unit("cpu_steal_seconds"), "s/s");
	assert_true(feature_find("cpu_steal_seconds")->by_name_only);
	assert_false(feature_find("bpf_cpu_time_ms")->by_name_only);
	assert_string_equal(feature_unit("f0"), "");
	assert_null(feature_find("bpf_cpu_time"));
}

static void test_recent_means(void **state)
{
	assert_string_equal(feature_unit("bpf_cpu_time_ms_mean_30s"), "ms/s");
	assert_true(feature_find("cpu_cycles_mean_5s")->is_load);
	assert_string_equal(feature_option("cpu_cycles_mean_5s"), "--counters.switches");
	assert_null(feature_find("cpu_scaling_frequency_hertz_mean_30s")); /* not of load */
	assert_null(feature_find("bpf_cpu_time_mean_30s"));
}

static void test_a_group_is_its_features_in_any_order(void **state)
{
	const char *const counters[] = { "cpu_instructions", "cache_miss", "cpu_cycles" };

	assert_string_equal(feature_group_of(counters, 3)->name, "CounterOnly");
	assert_null(feature_group_of(counters, 2));
	assert_null(feature_group_of(counters + 1, 2)); /* the first two of the group */
	assert_string_equal(feature_group_find("Full")->name, "Full");
	assert_null(feature_group_find("Counter"));
}

static void test_all_features_of_groups_are_known(void **state)
{
	for (const struct feature_group *group = feature_groups; group->name; group++) {
		for (size_t i = 0; group->features[i]; i++)
			assert_non_null(feature_find(group->features[i]));
	}
}

static void test_what_a_curve_sees(void **state)
{
	const char *const basic[] = { "bpf_cpu_time_ms", "bpf_page_cache_hit", "cache_miss",
				      "cpu_cycles", "cpu_instructions" };
	const char *const counters[] = { "cache_miss", "cpu_cycles", "cpu_instructions" };

	assert_int_equal(feature_main(basic, 5, "package"), 0);
	assert_int_equal(feature_main(basic, 5, "dram"), 1);
	assert_int_equal(feature_main(counters, 3, "package"), 2);
	assert_int_equal(feature_main(counters, 3, "dram"), 0);
}

static void test_ratios_are_of_features_that_are_there(void **state)
{
	const char *const basic[] = { "bpf_cpu_time_ms", "bpf_page_cache_hit", "cache_miss",
				      "cpu_cycles", "cpu_instructions" };
	struct feature_ratio ratios[PREDICTOR_RATIOS_MAX];

	assert_int_equal(feature_ratios(basic, 2, ratios), 0);
	assert_int_equal(feature_ratios(basic, 4, ratios), 1);
	assert_int_equal(ratios[0].numerator, 3);
	assert_int_equal(ratios[0].denominator, 0);
	assert_int_equal(feature_ratios(basic, 5, ratios), 3);
	assert_int_equal(ratios[2].numerator, 2);
	assert_int_equal(ratios[2].denominator, 4);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_and_load),
		cmocka_unit_test(test_recent_means),
		cmocka_unit_test(test_a_group_is_its_features_in_any_order),
		cmocka_unit_test(test_all_features_of_groups_are_known),
		cmocka_unit_test(test_what_a_curve_sees),
		cmocka_unit_test(test_ratios_are_of_features_that_are_there),
	};

	return unit_run(tests);
}
