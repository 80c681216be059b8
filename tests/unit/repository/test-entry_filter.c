// SPDX-License-Identifier: Apache-2.0
#include "repository/entry_filter.h"

#include "tests/unit/unit.h"

static const struct model_entry entry = {
	.source = "rapl-sysfs",
	.group = "BPFOnly",
	.name = "A_7",
	.trainer = "A",
	.kind = "scikit",
	.node_type = 7,
	.mae_w = 3,
	.mape_percent = (double)NAN,
	.errors = { { "dram", 2, 4 } },
	.error_count = 1,
	.machine = { .processor = "intel_xeon_e5_2686v4",
		     .cores = 72,
		     .chips = 2,
		     .memory_gb = 503,
		     .frequency_mhz = 3000 },
};

/* 1: it passes, 0: it does not, -EINVAL: the filter is wrong. */
static int passes(const char *text)
{
	struct entry_filter filter;
	struct diag diag = { "" };

	if (entry_filter_parse(text, &filter, &diag) == 0)
		return entry_filter_passes(&filter, &entry);
	assert_non_null(strstr(diag.text, "filter: "));
	return -EINVAL;
}

static void each_attribute_is_compared(void **state)
{
	static const char *const fitting[] = {
		"",
		"trainer:A",
		"model_name:A_7",
		"model_class:scikit",
		"feature_group:BPFOnly",
		"source:rapl-sysfs",
		"output_type:AbsPower",
		"processor:intel_xeon_e5_2686v4",
		"node_type:7",
		"cores:72",
		"chips:2",
		"memory:503",
		"frequency:3000",
		"mae:3",
		"dram_mae:2",
		"dram_mape:4",
		"mae:3;cores:72;",
	};
	static const char *const others[] = {
		"trainer:AB",
		"model_name:A",
		"model_class:xgboost",
		"feature_group:Basic",
		"source:acpi",
		"output_type:DynPower",
		"processor:intel",
		"node_type:70",
		"cores:71",
		"chips:1",
		"memory:502",
		"frequency:3001",
		"mae:2.9",
		"dram_mae:1.9",
		"dram_mape:3.9",
		"mae:3;cores:71",
	};

	for (size_t i = 0; i < ARRAY_SIZE(fitting); i++)
		assert_int_equal(passes(fitting[i]), 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(passes(others[i]), 0);
}

static void an_error_that_is_not_known_passes_no_limit(void **state)
{
	assert_int_equal(passes("mape:1000"), 0);
	assert_int_equal(passes("package_mae:1000"), 0);
}

static void what_is_wrong_is_refused(void **state)
{
	static const char *const wrong[] = { "colour:blue", "mae",   "mae:x", "cores:", ":",
					     "_mae:1",      "x_y:1", ";",     "mae:1;;" };
	static const char condition[] = "mae:3;";
	char many[2 * ENTRY_FILTER_SIZE] = "";
	size_t len = strlen(condition);

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(passes(wrong[i]), -EINVAL);
	for (size_t i = 0; i < ENTRY_FILTERS_MAX; i++)
		memcpy(many + i * len, condition, len);
	assert_int_equal(passes(many), 1);
	memcpy(many + ENTRY_FILTERS_MAX * len, condition, len);
	assert_int_equal(passes(many), -EINVAL);
	memset(many, 'x', sizeof(many) - 1);
	memcpy(many, "trainer:", strlen("trainer:"));
	many[ENTRY_FILTER_SIZE - 1] = '\0';
	assert_int_equal(passes(many), 0);
	many[ENTRY_FILTER_SIZE - 1] = 'x';
	many[ENTRY_FILTER_SIZE] = '\0';
	assert_int_equal(passes(many), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_attribute_is_compared),
		cmocka_unit_test(an_error_that_is_not_known_passes_no_limit),
		cmocka_unit_test(what_is_wrong_is_refused),
	};

	return unit_run(tests);
}
