// SPDX-License-Identifier: Apache-2.0
#include "repository/node_type.h"

#include "tests/unit/unit.h"

static void processors_are_named_as_upstream_does(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{ "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "intel_xeon_e5_2686v4" },
		{ "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", "intel_xeon_platinum_8259cl" },
		{ "AMD EPYC 7763 64-Core Processor", "amd_epyc_7763_64_core" },
		{ "Intel Xeon X3360 (2.83 GHz)", "intel_xeon_x3360" },
		{ "intel_xeon_e5_2686v4", "intel_xeon_e5_2686v4" },
		{ "Quad 64-Bit Multi-Core CPU, 2.4GHz [x]", "quad" },
		{ "", "" },
	};
	char name[64], cut[6];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		processor_name(cases[i].text, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
	processor_name("Intel Xeon", cut, sizeof(cut));
	assert_string_equal(cut, "intel");
}

static const char index_text[] =
	"{\"10\": {\"attrs\": {\"processor\": \"amd_epyc_7763\", \"cores\": 128}, \"members\": []},"
	" \"1\": {\"attrs\": {\"processor\": \"intel_xeon_e5_2686v4\", \"cores\": 72, \"chips\": 2,"
	" \"memory\": 503, \"frequency\": 3000}, \"members\": [\"a\", \"b\"]}}";

static void an_index_is_read_by_number(void **state)
{
	struct node_types types;

	assert_int_equal(node_types_parse("f", index_text, strlen(index_text), &types, NULL), 0);
	assert_int_equal(types.count, 2);
	assert_int_equal(node_types_find(&types, 1)->machine.memory_gb, 503);
	assert_int_equal(node_types_find(&types, 1)->members, 2);
	assert_string_equal(node_types_find(&types, 10)->machine.processor, "amd_epyc_7763");
	assert_null(node_types_find(&types, 0));
	node_types_release(&types);
}

static void bad_indexes_are_refused(void **state)
{
	static const char *const texts[] = {
		"[]",
		"{",
		"{\"x\": {\"attrs\": {}}}",
		"{\"1\": {}}",
		"{\"-1\": {\"attrs\": {}}}",
		"{\"1\": {\"attrs\": {}}, \"1\": {\"attrs\": {}}}",
	};
	struct node_types types;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		diag.text[0] = '\0';
		assert_int_equal(
			node_types_parse("index", texts[i], strlen(texts[i]), &types, &diag),
			-EINVAL);
		assert_int_equal(strncmp(diag.text, "index", 5), 0);
	}
}

static void what_is_not_known_is_uncertain(void **state)
{
	const struct machine_spec nothing = { .processor = "" };
	const struct machine_spec cores = { .cores = 96 };
	const struct machine_spec all = { .processor = "intel_xeon",
					  .cores = 96,
					  .chips = 2,
					  .memory_gb = 377,
					  .frequency_mhz = 3500 };

	assert_true(machine_spec_unknown(&nothing) > 0.999);
	assert_true(machine_spec_unknown(&cores) > 0.8 && machine_spec_unknown(&cores) < 0.9);
	assert_true(machine_spec_unknown(&all) < 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processors_are_named_as_upstream_does),
		cmocka_unit_test(an_index_is_read_by_number),
		cmocka_unit_test(bad_indexes_are_refused),
		cmocka_unit_test(what_is_not_known_is_uncertain),
	};

	return unit_run(tests);
}
