// SPDX-License-Identifier: Apache-2.0
#include "model/upstream_weights.h"

#include "model_text.h"
#include "tests/unit/unit.h"

#define FEATURES                                                                                   \
	"\"Categorical_Variables\": {}, \"Numerical_Variables\": {\"bpf_cpu_time_ms\": "           \
	"{\"scale\": 4000, \"weight\": 60}, \"bpf_page_cache_hit\": {\"scale\": 100, \"weight\": " \
	"0.5}}"
#define COMPONENT(name, rest) "\"" name "\": {\"All_Weights\": {" FEATURES rest "}}"

static const char *const names[] = { "bpf_page_cache_hit", "bpf_cpu_time_ms" };

/* Watts at 2000 ms/s and 25 hits/s. */
static double watts(const char *file, const char *text, const char *component)
{
	struct trained_model model;
	struct model_columns columns;
	struct model_answer answer = { .watts = -1 };
	struct diag diag = { "" };

	if (model_of(file, text, &model, &diag) < 0)
		fail_msg("%s", diag.text);
	for (size_t i = 0; i < model.component_count; i++) {
		if (strcmp(model.components[i].name, component) != 0)
			continue;
		assert_int_equal(trained_model_bind(&model, i, names, 2, &columns, &diag), 0);
		trained_model_predict(&model, i, &columns, (double[]){ 25, 2000 }, &answer);
	}
	trained_model_release(&model);
	return answer.watts;
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void test_linear(void **state)
{
	static const char text[] = "{" COMPONENT(
		"platform", ", \"Bias_Weight\": 64") ", \"model_name\": "
						     "\"SGDRegressorTrainer_7\", \"machine_spec\": "
						     "{\"processor\": \"x\", \"cores\": 8, "
						     "\"memory\": 30.5}}";
	struct trained_model model;
	struct diag diag = { "" };

	assert_near(watts("m.json", text, "platform"), 64 + 30 + 0.125);
	assert_int_equal(model_of("m.json", text, &model, &diag), 0);
	assert_string_equal(model.name, "SGDRegressorTrainer_7");
	assert_string_equal(model.origin.trainer, "SGDRegressorTrainer");
	assert_int_equal(model.node_type, 7);
	assert_string_equal(model.feature_group, "BPFOnly");
	assert_int_equal(model.machine.cores, 8);
	assert_int_equal(model.machine.memory_gb, 30);
	assert_true(isnan(model.components[0].error.mae_w));
	trained_model_release(&model);
}

/* Each curve by its trainer's name; dram sees the page cache. */
static void test_curves(void **state)
{
	static const char three[] =
		"{" COMPONENT("package", ", \"CurveFit_Weights\": [10, 4, 30]") "," COMPONENT(
			"dram", ", \"CurveFit_Weights\": [3, 1, 2]") "}";
	static const char four[] =
		"{" COMPONENT("platform", ", \"CurveFit_Weights\": [100, 0.5, 8, 20]") "}";

	assert_near(watts("/a/LogarithmicRegressionTrainer_1.json", three, "package"),
		    10 * log(3) + 30);
	assert_near(watts("ExponentialRegressionTrainer_1.json", three, "package"),
		    10 * exp(2) + 30);
	assert_near(watts("ExponentialRegressionTrainer_1.json", three, "dram"), 3 * exp(0.25) + 2);
	assert_near(watts("m.json", four, "platform"), 70);
	assert_true(is_refused("m.json", three, "can be logarithmic or exponential"));
}

/* Weights of power above idle say so by a key, or by the folder that they are in. */
static void test_the_file_or_its_folder_names_the_output(void **state)
{
	static const char folder[] = "/db/rapl-sysfs/DynPower/BPFOnly/SGDRegressorTrainer_1.json";
#define WEIGHTS(key) "{" key COMPONENT("package", ", \"Bias_Weight\": -1") "}"
#define KEY(output)  "\"output_type\": \"" output "\", "
	static const struct {
		const char *file, *text;
		enum model_output output;
	} cases[] = {
		{ "m.json", WEIGHTS(""), MODEL_ABS_POWER },
		{ folder, WEIGHTS(""), MODEL_DYN_POWER },
		{ "m.json", WEIGHTS(KEY("DynPower")), MODEL_DYN_POWER },
		{ folder, WEIGHTS(KEY("AbsPower")), MODEL_ABS_POWER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trained_model model;
		struct diag diag = { "" };

		assert_int_equal(model_of(cases[i].file, cases[i].text, &model, &diag), 0);
		assert_int_equal(model.output, cases[i].output);
		/* Less than nothing at no load is not a valid total power. */
		assert_int_equal(trained_model_check(&model, &diag) == 0,
				 cases[i].output == MODEL_DYN_POWER);
		trained_model_release(&model);
	}
	assert_true(is_refused("m.json", WEIGHTS(KEY("Power")), "must be AbsPower or DynPower"));
}

static void test_a_mean_is_subtracted_and_one_that_is_missing_is_refused(void **state)
{
#define MEAN(mean)                                                                                 \
	"{\"package\": {\"All_Weights\": {\"Bias_Weight\": 50, \"Numerical_Variables\": "          \
	"{\"bpf_cpu_time_ms\": {\"scale\": 500, \"weight\": 2, " mean "}}}}}"
	assert_near(watts("m.json", MEAN("\"mean\": 1000, \"variance\": 250000"), "package"),
		    50 + 2 * 2);
	assert_true(is_refused("m.json", MEAN("\"mean\": 0, \"variance\": 0"),
			       "m.json: package.All_Weights.Numerical_Variables.bpf_cpu_time_ms: "
			       "the mean that was subtracted in training is missing"));
}

static void test_weights_that_are_wrong_are_refused(void **state)
{
	assert_true(is_refused("m", "{" COMPONENT("core", ", \"CurveFit_Weights\": [1, 2]") "}",
			       "has 2 weights, not 3 or 4"));
	assert_true(is_refused("m", "{" COMPONENT("core", ", \"Bias_Weight\": \"1\"") "}",
			       "\"Bias_Weight\" must be a finite number"));
	assert_true(is_refused("m", "{\"core\": {\"All_Weights\": {}}}", "is missing"));
	assert_true(is_refused("m", "{\"core\": {\"All_Weights\": 3}}", "must be an object"));
	assert_true(is_refused("m", "{\"core\": {\"All_Weights\": {\"Numerical_Variables\": {}}}}",
			       "has 0 features, not 1 to 64"));
	assert_true(is_refused("m", "{" COMPONENT("core", ", \"XGboost_Weights\": \"%%\"") "}",
			       "base64"));
	assert_true(is_refused("m", "{" COMPONENT("core", ", \"XGboost_Weights\": \"AAAA\"") "}",
			       "no JSON"));
}

/* {"learner":{}} in base64 */
static void test_a_booster_in_base64_is_read(void **state)
{
	assert_true(is_refused("m",
			       "{" COMPONENT("core", ", \"XGboost_Weights\": "
						     "\"eyJsZWFybmVyIjp7fX0=\"") "}",
			       "learner: \"objective\" is missing"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_the_file_or_its_folder_names_the_output),
		cmocka_unit_test(test_a_mean_is_subtracted_and_one_that_is_missing_is_refused),
		cmocka_unit_test(test_weights_that_are_wrong_are_refused),
		cmocka_unit_test(test_a_booster_in_base64_is_read),
	};

	return unit_run(tests);
}
