// SPDX-License-Identifier: Apache-2.0
/* Answers of an HMC by IBM's description of its Web Services; the data is our own. */
#include "bmc/hmc_answer.h"

#include "bmc/answer_object.h"
#include "tests/unit/unit.h"

static json_t *parse(const char *text)
{
	json_t *object = answer_object(text, strlen(text));

	assert_non_null(object);
	return object;
}

static void a_path_is_of_the_service(void **state)
{
	static const char *const wrong[] = { "",
					     "/",
					     "/api/",
					     "api/cpcs",
					     "/redfish/v1/x",
					     "https://h/api/x",
					     "/api/a b",
					     "/api/a\r\nHost: x",
					     "/api/a?x=y",
					     "/api/a#b",
					     "/api/\xc3\xa4" };
	char longest[HMC_PATH_MAX + 1];
	struct hmc_path path;

	hmc_path_take("/api/cpcs/2d7e-01", &path);
	assert_string_equal(path.text, "/api/cpcs/2d7e-01");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		hmc_path_take(wrong[i], &path);
		assert_string_equal(path.text, "");
	}
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "/api/", 5);
	longest[HMC_PATH_MAX] = '\0';
	hmc_path_take(longest, &path);
	assert_string_equal(path.text, "");
	longest[HMC_PATH_MAX - 1] = '\0';
	hmc_path_take(longest, &path);
	assert_string_equal(path.text, longest);
}

static void what_a_session_and_an_error_say(void **state)
{
	CLEANUP(answer_object_release) json_t *good = parse("{\"api-session\":\"4f2a\"}");
	CLEANUP(answer_object_release) json_t *bad = parse("{\"api-session\":\"a\\nb\"}");
	CLEANUP(answer_object_release)
	json_t *error = parse("{\"reason\":5,\"message\":\"it has ended\"}");

	assert_string_equal(hmc_session(good), "4f2a");
	assert_null(hmc_session(bad));
	assert_null(hmc_session(error));
	assert_int_equal(hmc_reason(error), 5);
	assert_string_equal(hmc_message(error), "it has ended");
	assert_int_equal(hmc_reason(good), -1);
	assert_string_equal(hmc_message(NULL), "");
}

static void a_list_is_whole_or_cut(void **state)
{
	CLEANUP(answer_object_release)
	json_t *some = parse("{\"cpcs\":[{\"object-uri\":\"/api/cpcs/1\",\"name\":\"A\",\"status\":"
			     "\"operating\"},{\"object-uri\":\"/api/cpcs/2\",\"name\":\"B\","
			     "\"status\":\"not-activated\"}]}");
	CLEANUP(answer_object_release) json_t *nameless = parse("{\"cpcs\":[{\"name\":\"A\"}]}");
	CLEANUP_FREE struct hmc_list *list = calloc(1, sizeof(*list));

	hmc_list_read(some, "cpcs", list);
	assert_int_equal(list->count, 2);
	assert_false(list->is_cut);
	assert_string_equal(list->objects[1].name, "B");
	assert_string_equal(list->objects[1].path.text, "/api/cpcs/2");
	assert_true(list->objects[0].is_active);
	assert_false(list->objects[1].is_active);
	hmc_list_read(some, "partitions", list);
	assert_true(list->is_cut && list->count == 0);
	hmc_list_read(nameless, "cpcs", list);
	assert_true(list->is_cut && list->count == 0);
}

static void too_long_a_list_is_cut(void **state)
{
	CLEANUP_FREE struct hmc_list *list = calloc(1, sizeof(*list));
	CLEANUP(answer_object_release) json_t *answer = json_object();
	json_t *array = json_array();

	assert_int_equal(json_object_set_new(answer, "partitions", array), 0);
	for (size_t i = 0; i <= HMC_OBJECTS_MAX; i++) {
		hmc_list_read(answer, "partitions", list);
		assert_int_equal(list->count, i);
		assert_false(list->is_cut);
		assert_int_equal(json_array_append_new(array, json_pack("{ss ss ss}", "object-uri",
									"/api/partitions/1", "name",
									"N", "status", "active")),
				 0);
	}
	hmc_list_read(answer, "partitions", list);
	assert_true(list->is_cut);
}

/* The properties of partitions, in either mode. */
static void processors_and_weights(void **state)
{
	static const struct {
		const char *text;
		bool is_dpm, has_some;
		struct hmc_partition want;
	} cases[] = {
		{ "{\"processor-usage\":\"shared\",\"number-ifl-processors\":4,"
		  "\"current-ifl-processing-weight\":100,\"current-processing-weight\":null}",
		  false,
		  true,
		  { .weights = { 0, 100, 0, 0 } } },
		{ "{\"processor-usage\":\"dedicated\",\"number-general-purpose-processors\":3,"
		  "\"number-ziip-processors\":1,\"current-processing-weight\":7}",
		  false,
		  true,
		  { .is_dedicated = true, .processors = { 3, 0, 0, 1 } } },
		/* Before 2.15 there are weights alone. */
		{ "{\"current-processing-weight\":10,\"current-cf-processing-weight\":20}",
		  false,
		  true,
		  { .weights = { 10, 0, 20, 0 } } },
		{ "{\"processor-mode\":\"shared\",\"ifl-processors\":4,\"cp-processors\":0,"
		  "\"current-ifl-processing-weight\":100,\"current-cp-processing-weight\":50}",
		  true,
		  true,
		  { .weights = { 0, 100, 0, 0 } } },
		{ "{\"processor-mode\":\"dedicated\",\"cp-processors\":2}",
		  true,
		  true,
		  { .is_dedicated = true, .processors = { 2, 0, 0, 0 } } },
		{ "{\"current-processing-weight\":\"10\"}", false, false, { 0 } },
		{ "{\"current-processing-weight\":-1}", false, false, { 0 } },
		{ "{}", true, false, { 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(answer_object_release) json_t *properties = parse(cases[i].text);
		struct hmc_partition got;

		assert_int_equal(hmc_partition_read(properties, cases[i].is_dpm, &got),
				 cases[i].has_some);
		assert_int_equal(got.is_dedicated, cases[i].want.is_dedicated);
		assert_memory_equal(got.processors, cases[i].want.processors,
				    sizeof(got.processors));
		assert_memory_equal(got.weights, cases[i].want.weights, sizeof(got.weights));
	}
}

static void processors_of_a_cpc(void **state)
{
	CLEANUP(answer_object_release)
	json_t *properties = parse("{\"dpm-enabled\":true,\"processor-count-general-purpose\":4,"
				   "\"processor-count-ifl\":10,\"processor-count-iip\":null}");
	static const unsigned want[HMC_PROCESSORS] = { 4, 10, 0, 0 };
	struct hmc_cpc cpc;

	hmc_cpc_read(properties, &cpc);
	assert_true(cpc.is_dpm);
	assert_memory_equal(cpc.processors, want, sizeof(want));
}

static void expect_shares(const struct hmc_cpc *cpc, const struct hmc_partition *partitions,
			  const double *want, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double share = hmc_share(cpc, partitions, count, i);

		assert_true(fabs(share - want[i]) < 1e-12);
		sum += share;
	}
	assert_true(fabs(sum - 1) < 1e-12);
}

static void shares_are_the_whole_together(void **state)
{
	static const struct hmc_cpc ifls = { .processors = { 0, 10, 0, 0 } };
	static const struct hmc_cpc both = { .processors = { 2, 10, 0, 0 } };
	static const struct hmc_partition by_weight[] = { { .weights = { 0, 100, 0, 0 } },
							  { .weights = { 0, 300, 0, 0 } } };
	static const struct hmc_partition mixed[] = {
		{ .weights = { 0, 100, 0, 0 } },
		{ .weights = { 0, 300, 0, 0 } },
		{ .is_dedicated = true, .processors = { 0, 2, 0, 0 } },
		{ .weights = { 40, 0, 0, 0 } },
	};
	static const struct hmc_partition alone[] = { { .is_dedicated = true,
							.processors = { 0, 3, 0, 0 } } };

	expect_shares(&ifls, by_weight, (const double[]){ 0.25, 0.75 }, 2);
	expect_shares(&both, mixed, (const double[]){ 2.0 / 12, 6.0 / 12, 2.0 / 12, 2.0 / 12 }, 4);
	expect_shares(&ifls, alone, (const double[]){ 1 }, 1);
}

static void an_inconsistent_answer_has_no_share(void **state)
{
	static const struct hmc_cpc cpc = { .processors = { 0, 2, 0, 0 } };
	static const struct hmc_partition full[] = {
		{ .is_dedicated = true, .processors = { 0, 2, 0, 0 } },
		{ .weights = { 0, 100, 0, 0 } },
	};
	static const struct hmc_partition nothing[1];

	assert_true(hmc_share(&cpc, full, 2, 0) < 0);
	assert_true(hmc_share(&cpc, nothing, 1, 0) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_of_the_service),
		cmocka_unit_test(what_a_session_and_an_error_say),
		cmocka_unit_test(a_list_is_whole_or_cut),
		cmocka_unit_test(too_long_a_list_is_cut),
		cmocka_unit_test(processors_and_weights),
		cmocka_unit_test(processors_of_a_cpc),
		cmocka_unit_test(shares_are_the_whole_together),
		cmocka_unit_test(an_inconsistent_answer_has_no_share),
	};

	return unit_run(tests);
}
