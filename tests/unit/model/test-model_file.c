// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include "model_text.h"
#include "tests/unit/unit.h"

#define NODES 7

static double linear[] = { 1.0 / 3, -2e-300, 7 };
static double polynomial[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6 };
static struct tree_node nodes[NODES] = {
	{ .left = 1, .feature = 1, .threshold = 1.0F / 3, .missing_left = true, .or_equal = true },
	{ .left = 3, .feature = 3, .threshold = 0.5, .or_equal = true }, /* the second ratio */
	{ .threshold = 4, .or_equal = true },
	{ .threshold = -1e30F, .or_equal = true },
	{ .threshold = 2, .or_equal = true },
	{ .threshold = 3, .or_equal = true },
	{ .threshold = 16777215, .or_equal = true },
};
static uint32_t roots[] = { 0, 5, 6 };
static double rows[] = { 0, 1.0 / 7, 2, 3 }, values[] = { 10, 20 };

static const struct predictor forms[] = {
	{ .form = PREDICTOR_LINEAR, .features = 2, .log_output = true, .linear = { linear, 3 } },
	{ .form = PREDICTOR_POLYNOMIAL, .features = 2, .linear = { polynomial, 6 } },
	{ .form = PREDICTOR_LOGARITHMIC, .features = 2, .curve = { 1, { 1.1, 2.2, 3.3, 0 } } },
	{ .form = PREDICTOR_LOGISTIC, .features = 2, .curve = { 0, { 1.1, 2.2, 3.3, 4.4 } } },
	{ .form = PREDICTOR_EXPONENTIAL, .features = 2, .curve = { 1, { 1.1, 0.2, 3.3, 0 } } },
	{ .form = PREDICTOR_TREES,
	  .features = 2,
	  .trees = { nodes, NODES, roots, 3, 0.7, 0.1, { { 1, 0 }, { 0, 1 } }, 2 } },
	{ .form = PREDICTOR_NEIGHBOURS, .features = 2, .rows = { rows, values, 2, 2, 0, 0 } },
	{ .form = PREDICTOR_KERNEL, .features = 2, .rows = { rows, values, 2, 0, 0.3, 9 } },
};

static struct model_feature features[] = {
	{ .name = "bpf_cpu_time_ms", .scale = 96000.5, .minimum = 1, .maximum = 95000 },
	{ .name = "f\"1", .scale = 0, .minimum = (double)NAN, .maximum = (double)NAN },
};

static struct trained_model model_with(struct model_component *components, size_t count)
{
	struct trained_model model = {
		.name = "own-1",
		.output = MODEL_DYN_POWER,
		.source = "rapl-sysfs",
		.feature_group = "BPFOnly",
		.node_type = 3,
		.machine = { "intel", "intel_xeon_e5_2686v4", 96, 2, 512, 3500, 2 },
		.origin = { "trees", "rows of a test", "Apache-2.0", "us", "2026-11-24T00:00:00Z",
			    "kepler-model 1" },
		.components = components,
		.component_count = count,
	};

	for (size_t i = 0; i < count; i++) {
		components[i] = (struct model_component){
			.features = features,
			.feature_count = 2,
			.predictor = forms[i],
			.error = { 1.5, (double)NAN, 3, 0.1, 200, true },
			.minimum_w = 5,
			.maximum_w = (double)NAN,
		};
		(void)snprintf(components[i].name, sizeof(components[i].name), "c%zu", i);
	}
	return model;
}

static void assert_same_facts(const struct trained_model *a, const struct trained_model *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->output, b->output);
	assert_string_equal(a->source, b->source);
	assert_string_equal(a->feature_group, b->feature_group);
	assert_int_equal(a->node_type, b->node_type);
	assert_memory_equal(&a->machine, &b->machine, sizeof(a->machine));
	assert_memory_equal(&a->origin, &b->origin, sizeof(a->origin));
	assert_int_equal(a->component_count, b->component_count);
}

static void assert_same_component(const struct model_component *a, const struct model_component *b)
{
	static const double points[][2] = { { 0, 0 }, { 0.4, 1.0 / 3 }, { 1e-30, 0.2 }, { 3, 9 } };

	assert_string_equal(a->name, b->name);
	assert_int_equal(a->feature_count, b->feature_count);
	assert_string_equal(a->features[1].name, b->features[1].name);
	assert_true(!(a->features[0].scale < b->features[0].scale) &&
		    !(a->features[0].scale > b->features[0].scale));
	assert_true(isnan(b->features[1].minimum) && b->features[0].minimum > 0);
	assert_true(isnan(b->error.mape_percent) && b->error.bound_w > 2 && b->error.blocked);
	assert_int_equal(b->error.rows, 200);
	assert_true(isnan(b->maximum_w) && b->minimum_w > 4);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		double was = predictor_watts(&a->predictor, points[i]);
		double is = predictor_watts(&b->predictor, points[i]);

		assert_memory_equal(&was, &is, sizeof(was));
	}
}

static void test_what_is_written_reads_back_equal(void **state)
{
	struct model_component components[ARRAY_SIZE(forms)];
	struct trained_model model = model_with(components, ARRAY_SIZE(forms)), again;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct diag diag = { "" };

	_Static_assert(ARRAY_SIZE(forms) == PREDICTOR_FORM_COUNT, "all forms");
	memset(&again, 0, sizeof(again));
	assert_int_equal(trained_model_write(&model, &text), 0);
	if (trained_model_parse(&again, "m.json", text.data, text.len, &diag) < 0)
		fail_msg("%s", diag.text);
	assert_same_facts(&model, &again);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		assert_same_component(&model.components[i], &again.components[i]);
	trained_model_release(&again);
	assert_null(again.components);
}

/* @of in a file of one linear component is replaced by @by. */
static bool is_refused_with(const char *of, const char *by, const char *words)
{
	static const char text[] =
		"{\"format\": \"kepler-model\", \"version\": 1, \"output\": \"AbsPower\", "
		"\"components\": [{\"name\": \"core\", \"features\": [{\"name\": "
		"\"bpf_cpu_time_ms\", \"unit\": \"ms/s\", \"scale\": 10, \"minimum\": 0}], "
		"\"error\": {\"mae_w\": 1}, \"predictor\": {\"form\": \"linear\", "
		"\"weights\": [1, 2]}}]}";
	const char *at = strstr(text, of);
	char changed[sizeof(text) + 512];

	assert_non_null(at);
	(void)snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, by,
		       at + strlen(of));
	return is_refused("m.json", changed, words);
}

static void test_errors_are_reported(void **state)
{
	assert_true(is_refused_with("\"version\": 1", "\"version\": 2", "version 2; this program"));
	assert_true(is_refused_with("AbsPower", "Power", "must be AbsPower or DynPower"));
	assert_true(is_refused_with("\"name\": \"core\", ", "",
				    "m.json: components[0]: \"name\" is missing"));
	assert_true(is_refused_with("ms/s", "us/s", "is in ms/s, not in \"us/s\""));
	assert_true(is_refused_with("10,", "1e999,", "not JSON"));
	assert_true(is_refused_with("10,", "NaN,", "not JSON"));
	assert_true(is_refused_with("10,", "\"10\",",
				    "components[0].features[0]: \"scale\" must be a finite"));
	assert_true(is_refused_with("[1, 2]", "[1]", "has 2 weights, and there are 1"));
	assert_true(is_refused_with("[1, 2]", "[1, 2, 3]", "has 3 elements, more than 2"));
	assert_true(is_refused_with("[1, 2]", "[1, null]", "\"weights\"[1] must be a finite"));
	assert_true(is_refused_with("linear", "forest", "\"form\" must be linear, "));
	assert_true(is_refused_with("\"mae_w\": 1", "\"mae_w\": -1", "an error is negative"));
	assert_true(is_refused_with("bpf_cpu_time_ms", "a\\nb", "has a control character"));
}

#define TREES(left)                                                                                \
	"\"trees\", \"base\": 1, \"roots\": [0], \"left\": " left ", \"threshold\": [1, 2, 3], "   \
	"\"feature\": [0, 0, 0], \"missing_left\": [0, 0, 0], \"or_equal\": false"

static void test_trees_in_a_circle_are_refused(void **state)
{
	assert_true(is_refused_with("\"linear\"", TREES("[1, 1, 0]"),
				    "components[0].predictor: tree node 1 has its children at 1"));
	assert_true(is_refused_with("\"linear\"", TREES("[2, 0, 0]"), "outside 1..2"));
	assert_true(is_refused_with("\"linear\"", TREES("[1, 0]"), "has 2 elements, not 3"));
	assert_true(is_refused_with("\"linear\"", TREES("[1, 4294967295, 0]"), "outside 2..2"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_reads_back_equal),
		cmocka_unit_test(test_errors_are_reported),
		cmocka_unit_test(test_trees_in_a_circle_are_refused),
	};

	return unit_run(tests);
}
