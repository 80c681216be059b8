// SPDX-License-Identifier: Apache-2.0
#include "model/selection.h"

#include "tests/unit/unit.h"

enum { ITSELF, LARGER, FAMILY, OLDER, AMD, POOLED, COUNTERS, DYNAMIC, KINDS };

static const struct machine_spec machines[KINDS] = {
	[ITSELF] = { "intel", "intel_xeon_gold_6330", 112, 2, 256, 3100, 2 },
	[LARGER] = { "intel", "intel_xeon_gold_6330", 224, 4, 512, 3100, 2 },
	[FAMILY] = { "intel", "intel_xeon_platinum_8380", 160, 2, 256, 3400, 2 },
	[OLDER] = { "intel", "intel_xeon_gold_6130", 64, 2, 192, 3700, 2 },
	[AMD] = { "amd", "amd_epyc_7763", 128, 1, 256, 3500, 2 },
	[COUNTERS] = { "intel", "intel_xeon_gold_6330", 112, 2, 256, 3100, 2 },
	[DYNAMIC] = { "intel", "intel_xeon_gold_6330", 112, 2, 256, 3100, 2 },
};
static const char *const time_only[] = { "bpf_cpu_time_ms" };
static const char *const counters[] = { "bpf_cpu_time_ms", "cpu_cycles" };

static struct model_candidate candidates[KINDS];
static struct model_request request;

static int set_up(void **state)
{
	for (size_t i = 0; i < KINDS; i++)
		candidates[i] = (struct model_candidate){
			.machine = &machines[i],
			.is_pooled = i == POOLED,
			.output = i == DYNAMIC ? MODEL_DYN_POWER : MODEL_ABS_POWER,
			.source = "rapl-sysfs",
			.features = i == COUNTERS ? counters : time_only,
			.feature_count = i == COUNTERS ? 2 : 1,
			.error_ratio = i == POOLED     ? 0.17
				       : i == COUNTERS ? 0.01
						       : 0.03,
		};
	request = (struct model_request){
		.machine = &machines[ITSELF],
		.output = MODEL_ABS_POWER,
		.source = "rapl-sysfs",
		.features = time_only,
		.feature_count = 1,
	};
	return 0;
}

/* The choice when the first @skip candidates are not there. */
static struct model_choice choose(size_t skip)
{
	struct model_choice choice;
	struct diag diag = { "" };

	if (model_select(candidates + skip, KINDS - skip, &request, &choice, &diag) < 0)
		fail_msg("%s", diag.text);
	choice.index += skip;
	return choice;
}

/* A recent mean can be computed where its feature is counted. */
static void test_recent_means_are_available(void **state)
{
	static const char *const means[] = { "bpf_cpu_time_ms_mean_30s" };
	static const char *const others[] = { "cpu_cycles_mean_30s" };
	struct model_choice choice;
	struct diag diag = { "" };

	candidates[ITSELF].features = means;
	assert_int_equal(model_select(candidates, 1, &request, &choice, &diag), 0);
	candidates[ITSELF].features = others;
	assert_int_equal(model_select(candidates, 1, &request, &choice, &diag), -ENOENT);
}

static void test_the_machine_itself_goes_first(void **state)
{
	struct model_choice choice = choose(0);

	assert_int_equal(choice.index, ITSELF);
	assert_int_equal(choice.match, MATCH_MACHINE);
	assert_true(fabs(choice.expected_error - 0.03) < 1e-9 && choice.looseness < 1e-9);
	assert_true(fabs(choice.core_ratio - 1) < 1e-9);
}

/* A pooled model of 17 % is better than one machine that is like this one, or not. */
static void test_expected_error_decides(void **state)
{
	struct model_choice choice;

	assert_int_equal(choose(1).index, POOLED);
	candidates[POOLED].error_ratio = 0.6;
	choice = choose(1);
	assert_int_equal(choice.index, LARGER);
	assert_true(fabs(choice.core_ratio - 0.5) < 1e-9);
	assert_true(choice.looseness > 0.16 && choice.looseness < 0.3);
	choice = choose(2);
	assert_int_equal(choice.index, FAMILY);
	assert_true(fabs(choice.core_ratio - 0.7) < 1e-9);
	assert_int_equal(choose(3).match, MATCH_LINE);
	assert_non_null(strstr(choose(3).reason, "another generation of this line"));
}

static void test_nothing_that_is_expected_to_be_far_off(void **state)
{
	struct model_choice choice;
	struct diag diag = { "" };

	assert_int_equal(model_select(&candidates[AMD], 1, &request, &choice, &diag), -ERANGE);
	assert_non_null(strstr(diag.text, "a processor of another kind (\"amd_epyc_7763\")"));
	request.error_max = 2;
	assert_int_equal(model_select(&candidates[AMD], 1, &request, &choice, &diag), 0);
	assert_int_equal(choice.match, MATCH_OTHER);
}

/* The further the other machine, the wider; of memory another machine says nothing. */
static void test_the_bound_grows_with_the_distance(void **state)
{
	static const struct machine_spec nameless = { .cores = 112 };
	struct model_choice itself, larger, family, package, older, dram, unknown;
	struct model_candidate of_memory = candidates[LARGER], of_nothing = candidates[ITSELF];
	struct model_candidate of_package = candidates[FAMILY];

	of_package.component = "package";
	of_memory.component = "dram";
	of_nothing.machine = &nameless;
	model_judge(&candidates[ITSELF], &machines[ITSELF], &itself);
	model_judge(&candidates[LARGER], &machines[ITSELF], &larger);
	model_judge(&candidates[FAMILY], &machines[ITSELF], &family);
	model_judge(&candidates[OLDER], &machines[ITSELF], &older);
	model_judge(&of_package, &machines[ITSELF], &package);
	model_judge(&of_memory, &machines[ITSELF], &dram);
	model_judge(&of_nothing, &machines[ITSELF], &unknown);
	assert_true(itself.bound_ratio < 1e-9);
	assert_true(larger.bound_ratio > 0.4 && family.bound_ratio > larger.bound_ratio);
	assert_true(older.bound_ratio > family.bound_ratio);
	/* Not less than a whole machine of the family at no distance. */
	assert_true(package.bound_ratio > 0.305 && package.bound_ratio < family.bound_ratio);
	assert_true(larger.expected_error < SELECTION_ERROR_MAX);
	assert_true(dram.expected_error > SELECTION_ERROR_MAX);
	assert_int_equal(unknown.match, MATCH_UNKNOWN);
	assert_true(isnan(unknown.bound_ratio));
}

static void test_features_output_and_source(void **state)
{
	struct model_choice choice;
	struct diag diag = { "" };

	request.features = counters;
	request.feature_count = 2;
	assert_int_equal(choose(0).index, COUNTERS);
	request.output = MODEL_DYN_POWER;
	assert_int_equal(choose(0).index, DYNAMIC);
	request.source = "intel_rapl"; /* the same meter, as Kepler calls it */
	assert_int_equal(choose(0).index, DYNAMIC);
	request.source = "acpi";
	assert_int_equal(model_select(candidates, KINDS, &request, &choice, &diag), -ENOENT);
}

/* On an unknown machine one of many is as good as a guess: the pooled model is better. */
static void test_an_unknown_machine(void **state)
{
	static const struct machine_spec unknown = { .cores = 8 };
	static const struct machine_spec alike = { "intel", "intel_xeon_gold_6330", 0, 0, 0, 0, 0 };

	request.machine = &unknown;
	assert_int_equal(choose(0).index, POOLED);
	request.machine = &alike; /* its size is not known, so it is not the same */
	candidates[POOLED].error_ratio = 0.9;
	assert_int_equal(choose(0).match, MATCH_PROCESSOR);
	assert_true(fabs(choose(0).core_ratio - 1) < 1e-9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_recent_means_are_available, set_up),
		cmocka_unit_test_setup(test_the_machine_itself_goes_first, set_up),
		cmocka_unit_test_setup(test_expected_error_decides, set_up),
		cmocka_unit_test_setup(test_nothing_that_is_expected_to_be_far_off, set_up),
		cmocka_unit_test_setup(test_the_bound_grows_with_the_distance, set_up),
		cmocka_unit_test_setup(test_features_output_and_source, set_up),
		cmocka_unit_test_setup(test_an_unknown_machine, set_up),
	};

	return unit_run(tests);
}
