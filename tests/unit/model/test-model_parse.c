// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "tests/unit/unit.h"

static void test_other_files_are_refused_with_advice(void **state)
{
	assert_true(is_refused("a.pkl", "\x80\x04\x95@",
			       "a.pkl: it is a pickle, which is never loaded"));
	assert_true(is_refused("a.pkl", "\x80\x02}q", "train it again with kepler-model"));
	assert_true(is_refused("a.zip", "PK\x03\x04....", "zip archive"));
	assert_true(is_refused("a.gz", "\x1f\x8b\x08", "gzip"));
	assert_true(is_refused("a.ubj", "{L", "save the booster as JSON"));
	assert_true(is_refused("a.model", "binf", "old binary format"));
	assert_true(is_refused("a.json", "<html>404", "check the URL"));
}

static void test_an_invalid_model_is_refused(void **state)
{
	assert_true(is_refused("a.json", "", "a.json:1:0: not JSON"));
	assert_true(is_refused("a.json", "{\"a\": 1,\n \"a\": 2}", "a.json:2:4: not JSON: dup"));
	assert_true(is_refused("a.json", "[1]", "must be a JSON object"));
	assert_true(is_refused("a.json", "{\"model\": {}}", "not a known model format"));
	assert_true(is_refused("a.json", "{\"format\": 1}", "\"format\" must be text"));
	assert_true(is_refused("a.json", "{\"format\": \"x\"}", "it is \"x\" version 0"));
	assert_true(is_refused("a.json", "{\"learner\": {}}", "\"objective\" is missing"));
}

static void test_too_large_too_deep_too_many(void **state)
{
	size_t size = MODEL_FILE_MAX;
	char *text = malloc(size + 1);
	struct trained_model model;
	struct diag diag = { "" };

	assert_non_null(text);
	memset(text, '[', size);
	text[size] = '\0';
	assert_int_equal(trained_model_parse(&model, "a", text, size + 1, &diag), -E2BIG);
	assert_int_equal(trained_model_parse(&model, "a", text, size, &diag), -EINVAL);
	assert_string_equal(diag.text, "a: it has more than 3000000 values");
	assert_int_equal(trained_model_parse(&model, "a", text, 1000, &diag), -EINVAL);
	assert_string_equal(diag.text, "a: it is nested more than 64 deep");
	free(text);
}

static void test_the_group_is_named_after_the_features(void **state)
{
	static const char text[] =
		"{\"package\": {\"All_Weights\": {\"Bias_Weight\": 1, \"Numerical_Variables\": "
		"{\"cpu_cycles\": {\"scale\": 1}, \"cache_miss\": {\"scale\": 1}, "
		"\"cpu_instructions\": {\"scale\": 1}}}}}";
	struct trained_model model;
	struct diag diag = { "" };

	assert_int_equal(model_of("a", text, &model, &diag), 0);
	assert_string_equal(model.feature_group, "CounterOnly");
	trained_model_release(&model);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_files_are_refused_with_advice),
		cmocka_unit_test(test_an_invalid_model_is_refused),
		cmocka_unit_test(test_too_large_too_deep_too_many),
		cmocka_unit_test(test_the_group_is_named_after_the_features),
	};

	return unit_run(tests);
}
