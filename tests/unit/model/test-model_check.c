// SPDX-License-Identifier: Apache-2.0
#include "model_text.h"
#include "tests/unit/unit.h"

static int check(const char *file, const char *text, struct diag *diag)
{
	struct trained_model model;
	int r = model_of(file, text, &model, diag);

	assert_int_equal(r, 0);
	r = trained_model_check(&model, diag);
	trained_model_release(&model);
	return r;
}

static bool fails(const char *file, const char *text, const char *words)
{
	struct diag diag = { "" };

	if (check(file, text, &diag) == 0)
		return false;
	if (strstr(diag.text, words))
		return true;
	print_message("# %s\n", diag.text);
	return false;
}

#define CURVE(weights)                                                                             \
	"{\"package\": {\"All_Weights\": {\"Numerical_Variables\": {\"bpf_cpu_time_ms\": "         \
	"{\"scale\": 96000}, \"bpf_page_cache_hit\": {\"scale\": 1}}, \"CurveFit_Weights\": "      \
	"[" weights "]}}}"

/* One of those that upstream publishes: 65 ln(4687646 x + 1) - 612. */
static void test_negative_idle_power_is_refused(void **state)
{
	struct diag diag = { "" };

	assert_true(fails("LogarithmicRegressionTrainer_5.json", CURVE("65.2, 4687645.8, -612"),
			  "component \"package\" gives an idle power of -612 W"));
	assert_int_equal(
		check("LogarithmicRegressionTrainer_0.json", CURVE("65.2, 4687645.8, 12"), &diag),
		0);
}

#define LINEAR(output, weights)                                                                    \
	"{\"format\": \"kepler-model\", \"version\": 1, \"name\": \"m\", \"output\": \"" output    \
	"\", \"components\": [{\"name\": \"dram\", \"features\": [{\"name\": \"cpu_cycles\", "     \
	"\"scale\": 1e9, \"minimum\": 0, \"maximum\": 4e9}, {\"name\": "                           \
	"\"cpu_scaling_frequency_hertz\", \"scale\": 1e9, \"minimum\": 2e9, \"maximum\": 3e9}], "  \
	"\"predictor\": {\"form\": \"linear\", \"weights\": [" weights "]}}]}"

static void test_power_that_falls_with_load_is_refused(void **state)
{
	struct diag diag = { "" };

	assert_true(fails("m.json", LINEAR("AbsPower", "50, -5, 0"),
			  "falls from 50 W to 49.375 W as the load grows from 0 % to 3 %"));
	assert_true(fails("m.json", LINEAR("AbsPower", "50, -5, 0"), "feature \"cpu_cycles\""));
	assert_int_equal(check("m.json", LINEAR("AbsPower", "50, 5, 0"), &diag), 0);
}

/* At some frequency it is negative. A frequency need not raise the power. */
static void test_features_that_are_no_load(void **state)
{
	struct diag diag = { "" };

	assert_true(fails("m.json", LINEAR("AbsPower", "50, 5, -20"), "idle power of -10 W"));
	assert_int_equal(check("m.json", LINEAR("AbsPower", "50, 5, -1"), &diag), 0);
}

static void test_dynamic_power_at_zero_is_only_clipped(void **state)
{
	struct diag diag = { "" };

	assert_int_equal(check("m.json", LINEAR("DynPower", "-3, 5, 0"), &diag), 0);
	assert_true(fails("m.json", LINEAR("AbsPower", "-3, 5, 0"), "idle power of -3 W"));
}

static void test_more_than_any_machine_is_refused(void **state)
{
	assert_true(fails("m.json", LINEAR("AbsPower", "50, 1e6, 0"), "W at cpu_cycles = "));
	assert_true(fails("m.json", LINEAR("AbsPower", "1e308, 1e308, 0"), "must be finite"));
	assert_true(fails("LogarithmicRegressionTrainer_0.json", CURVE("-10, -2, 500"), "inf W"));
}

/* Trees may fall a little: they follow the rows that they have seen. */
#define TREE(high)                                                                                 \
	"{\"format\": \"kepler-model\", \"version\": 1, \"name\": \"m\", \"output\": "             \
	"\"AbsPower\", \"components\": [{\"name\": \"core\", \"features\": [{\"name\": "           \
	"\"cpu_cycles\", \"scale\": 1, \"maximum\": 8}], \"predictor\": {\"form\": \"trees\", "    \
	"\"base\": 0, \"roots\": [0], \"left\": [1,0,0], \"feature\": [0,0,0], "                   \
	"\"threshold\": [4,100," high "], \"missing_left\": [0,0,0], \"or_equal\": false}}]}"

static void test_trees_may_fall_a_little(void **state)
{
	struct diag diag = { "" };

	assert_int_equal(check("m.json", TREE("95"), &diag), 0);
	assert_true(fails("m.json", TREE("80"), "falls from 100 W to 80 W"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_negative_idle_power_is_refused),
		cmocka_unit_test(test_power_that_falls_with_load_is_refused),
		cmocka_unit_test(test_features_that_are_no_load),
		cmocka_unit_test(test_dynamic_power_at_zero_is_only_clipped),
		cmocka_unit_test(test_more_than_any_machine_is_refused),
		cmocka_unit_test(test_trees_may_fall_a_little),
	};

	return unit_run(tests);
}
