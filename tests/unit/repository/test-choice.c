// SPDX-License-Identifier: Apache-2.0
/* Choices from a repository that is made of values. */
#include "repository/choice.h"

#include "tests/unit/unit.h"

static struct pipeline pipelines[] = { { .name = "one" }, { .name = "two" } };
static struct model_entry entries[8];
static struct repository repository = { .pipelines = pipelines,
					.pipeline_count = 2,
					.entries = entries };

static struct model_entry *add(const char *name, double mae_w)
{
	struct model_entry *entry = &entries[repository.entry_count++];

	*entry = (struct model_entry){ .source = "rapl-sysfs",
				       .group = "BPFOnly",
				       .files = FILE_WEIGHTS,
				       .features = "bpf_cpu_time_ms,bpf_page_cache_hit",
				       .mae_w = mae_w,
				       .mape_percent = mae_w };
	assert_true(model_entry_take_name(entry, name));
	return entry;
}

static int begin(void **state)
{
	repository.entry_count = 0;
	return 0;
}

static struct choice_request anything(void)
{
	return (struct choice_request){ .source = "",
					.group = "",
					.trainer = "",
					.pipeline = "",
					.filter = "",
					.node_type = -1 };
}

static const char *chosen(const struct choice_request *request)
{
	struct choice choice;

	return choice_make(&repository, request, &choice, NULL) == 0 ? choice.entry->name : "";
}

/* Upstream looks for "_1" in names, so that a model of type 10 passes for one of type 1. */
static void node_types_are_compared_whole(void **state)
{
	struct choice_request request = anything();

	add("SGDRegressorTrainer_10", 1);
	add("SGDRegressorTrainer_109", 1);
	add("SGDRegressorTrainer_1", 9);
	request.node_type = 1;
	assert_string_equal(chosen(&request), "SGDRegressorTrainer_1");
	request.node_type = 0;
	request.exact = true;
	assert_string_equal(chosen(&request), "");
}

static void the_lowest_error_wins(void **state)
{
	struct choice_request request = anything();

	add("A_1", (double)NAN);
	add("B_1", 5);
	add("C_1", 3);
	assert_string_equal(chosen(&request), "C_1");
	request.max_error = 0.02;
	assert_string_equal(chosen(&request), "");
}

static void filters_are_applied(void **state)
{
	struct choice_request request = anything();
	struct choice choice;
	struct diag diag = { "" };

	add("A_1", 3)->errors[0] = (struct entry_error){ "dram", 2, (double)NAN };
	entries[0].error_count = 1;
	add("B_1", 5);
	request.filter = "mae:4";
	assert_string_equal(chosen(&request), "A_1");
	request.filter = "trainer:B;mae:10";
	assert_string_equal(chosen(&request), "B_1");
	request.filter = "dram_mae:1";
	assert_string_equal(chosen(&request), "");
	request.filter = "dram_mae:2;node_type:1";
	assert_string_equal(chosen(&request), "A_1");
	request.filter = "colour:blue";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "colour"));
	request.filter = "mae";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -EINVAL);
	request.filter = "mae:x";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -EINVAL);
}

/* Groups come in any order, and a request for one of them gets that one. */
static void each_group_has_its_best(void **state)
{
	struct choice_request request = anything();
	struct choice *best = NULL;
	size_t count = 0;

	add("A_1", 3);
	(void)snprintf(add("B_1", 9)->group, ENTRY_NAME_MAX, "CounterOnly");
	add("C_1", 2);
	(void)snprintf(add("D_1", 1)->group, ENTRY_NAME_MAX, "CounterOnly");
	(void)snprintf(add("E_1", 90)->group, ENTRY_NAME_MAX, "Basic");
	request.filter = "mae:50";
	assert_int_equal(choice_make_by_group(&repository, &request, &best, &count, NULL), 0);
	assert_int_equal(count, 2); /* none of Basic passes */
	assert_string_equal(best[0].entry->name, "C_1");
	assert_string_equal(best[1].entry->name, "D_1");
	free(best);
	request.group = "CounterOnly";
	assert_int_equal(choice_make_by_group(&repository, &request, &best, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_string_equal(best[0].entry->name, "D_1");
	free(best);
	request.group = "None";
	assert_int_equal(choice_make_by_group(&repository, &request, &best, &count, NULL), 0);
	assert_int_equal(count, 0);
	free(best);
	request.filter = "colour:blue";
	assert_int_equal(choice_make_by_group(&repository, &request, &best, &count, NULL), -EINVAL);
}

static void features_must_all_be_there(void **state)
{
	const char *const enough[] = { "bpf_page_cache_hit", "bpf_cpu_time_ms", "cpu_cycles" };
	const char *const similar[] = { "bpf_page_cache_hit", "bpf_cpu_time_ms2", "bpf_cpu_time" };
	struct choice_request request = anything();
	struct choice choice;
	struct diag diag = { "" };

	add("A_1", 3);
	request.features = enough;
	request.feature_count = ARRAY_SIZE(enough);
	assert_string_equal(chosen(&request), "A_1");
	request.features = similar;
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "features"));
}

static const struct machine_spec epyc = { .processor = "amd_epyc_7763", .cores = 8 };
static const struct machine_spec xeon = { .processor = "intel_xeon_e5_2686v4",
					  .cores = 72,
					  .chips = 2,
					  .memory_gb = 503,
					  .frequency_mhz = 3000 };

/* 20 % of the same machine are less than 1 % and what another processor brings. */
static void the_least_expected_error_wins(void **state)
{
	struct choice_request request = anything();
	struct choice choice;

	add("A_1", 1)->machine = epyc;
	add("B_2", 20)->machine = xeon;
	request.machine = xeon;
	assert_int_equal(choice_make(&repository, &request, &choice, NULL), 0);
	assert_string_equal(choice.entry->name, "B_2");
	assert_int_equal(choice.match, MATCH_MACHINE);
	assert_true(fabs(choice.expected_error - 0.2) < 1e-9);
	assert_true(choice.looseness < 1e-9 && choice.uncertainty < 1e-9);
	request.machine.cores = 36;
	assert_int_equal(choice_make(&repository, &request, &choice, NULL), 0);
	assert_int_equal(choice.match, MATCH_PROCESSOR);
	assert_true(choice.looseness > 0.1 && choice.expected_error > 0.22);
	assert_true(fabs(choice.core_ratio - 0.5) < 1e-9);
	request.max_error = 0.21;
	assert_string_equal(chosen(&request), "");
	request.exact = true;
	request.max_error = 0;
	assert_string_equal(chosen(&request), "");
	request = anything();
	assert_string_equal(chosen(&request), "B_2"); /* the most cores */
}

/* The answer says what is missing: the feature and kepler's option for it, or the fault. */
static void what_is_missing_is_named(void **state)
{
	static const char *const time_only[] = { "bpf_cpu_time_ms" };
	struct choice_request request = anything();
	struct choice choice;
	struct diag diag = { "" };

	add("A_1", 1)->features = "bpf_cpu_time_ms,bpf_page_cache_hit";
	add("B_1", 1)->features = "cache_miss,cpu_cycles,cpu_instructions";
	request.features = time_only;
	request.feature_count = 1;
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text,
			       "the nearest one lacks bpf_page_cache_hit (kepler --bpf.io=all)"));
	entries[0].features = "bpf_cpu_time_ms";
	entries[0].files = FILE_WEIGHTS;
	entries[0].weights_are_bad = true;
	entries[0].weights_fault = "A_1.json: it falls";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "one is bad: A_1.json: it falls"));
}

static void forms_and_sources_must_fit(void **state)
{
	const bool excluded[] = { true, false };
	struct choice_request request = anything();
	struct choice choice;
	struct diag diag = { "" };

	add("A_1", 1)->weights_are_bad = true;
	add("B_1", 2);
	request.files = FILE_WEIGHTS;
	request.source = "intel_rapl";
	assert_string_equal(chosen(&request), "B_1");
	request.files = FILE_ARCHIVE;
	assert_string_equal(chosen(&request), "");
	request.files = 0;
	entries[0].weights_are_bad = false;
	assert_string_equal(chosen(&request), "A_1");
	request.excluded = excluded;
	assert_string_equal(chosen(&request), "B_1");
	request.trainer = "A";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cannot be loaded"));
	request.trainer = "";
	request.pipeline = "two";
	assert_string_equal(chosen(&request), "");
	request.pipeline = "";
	request.source = "acpi";
	assert_string_equal(chosen(&request), "");
}

/* Models in another format are named, with the way to get them. */
static void other_formats_are_named(void **state)
{
	struct choice_request request = anything();
	struct choice choice;
	struct diag diag = { "" };

	(void)state;
	add("A_1", 1);
	add("B_1", 2);
	(void)snprintf(entries[1].kind, sizeof(entries[1].kind), "kepler");
	request.files = FILE_ARCHIVE;
	request.upstream_only = true;
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text,
			       "; there are only weights (\"weight\": true), kepler's own "
			       "format (GET /api/v2/model)"));
	entries[0].files = FILE_ARCHIVE;
	(void)snprintf(entries[0].kind, sizeof(entries[0].kind), "scikit");
	request.files = FILE_WEIGHTS;
	request.trainer = "A";
	assert_int_equal(choice_make(&repository, &request, &choice, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "there are only archives with pickles"));
}

static void pickles_can_be_left_out(void **state)
{
	struct choice_request request = anything();

	add("A_1", 1)->files = FILE_ARCHIVE;
	(void)snprintf(entries[0].kind, sizeof(entries[0].kind), "scikit");
	assert_true(model_entry_is_pickled(&entries[0]));
	assert_string_equal(chosen(&request), "A_1");
	request.no_pickles = true;
	assert_string_equal(chosen(&request), "");
	(void)snprintf(entries[0].kind, sizeof(entries[0].kind), "xgboost");
	assert_string_equal(chosen(&request), "A_1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(node_types_are_compared_whole, begin),
		cmocka_unit_test_setup(the_lowest_error_wins, begin),
		cmocka_unit_test_setup(filters_are_applied, begin),
		cmocka_unit_test_setup(each_group_has_its_best, begin),
		cmocka_unit_test_setup(features_must_all_be_there, begin),
		cmocka_unit_test_setup(the_least_expected_error_wins, begin),
		cmocka_unit_test_setup(what_is_missing_is_named, begin),
		cmocka_unit_test_setup(forms_and_sources_must_fit, begin),
		cmocka_unit_test_setup(other_formats_are_named, begin),
		cmocka_unit_test_setup(pickles_can_be_left_out, begin),
	};

	return unit_run(tests);
}
