// SPDX-License-Identifier: Apache-2.0
#include "model/processor/processor_family.h"

#include "tests/unit/unit.h"

static void test_names(void **state)
{
	static const struct {
		const char *processor, *vendor, *line, *generation;
	} names[] = {
		{ "intel_xeon_platinum_8380", "intel", "scalable", "3" },
		{ "intel_xeon_gold_6438y+", "intel", "scalable", "4" },
		{ "xeon_silver_4110", "intel", "scalable", "1" },
		{ "intel_xeon_e5_2686v4", "intel", "e5", "4" },
		{ "intel_xeon_e3_1260l", "intel", "e3", "1" },
		{ "intel_xeon_e5_l2400", "intel", "e5", "1" },
		{ "amd_epyc_7702", "amd", "epyc", "2" },
		{ "amd_epyc_8434pn", "amd", "epyc", "4" },
		{ "amd_epyc", "amd", "epyc", "" },
		{ "intel_xeon_x5570", "intel", "xeon", "55" },
		{ "amd_opteron_6174", "amd", "opteron", "61" },
		{ "arm_neoverse_n1", "arm", "neoverse", "n1" },
		{ "", "", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct processor_family family;

		processor_family_of(names[i].processor, &family);
		assert_string_equal(family.vendor, names[i].vendor);
		assert_string_equal(family.line, names[i].line);
		assert_string_equal(family.generation, names[i].generation);
	}
}

static void test_equality_needs_all_words(void **state)
{
	struct processor_family milan, rome, unknown;

	processor_family_of("amd_epyc_7763", &milan);
	processor_family_of("amd_epyc_7702", &rome);
	processor_family_of("", &unknown);
	assert_true(processor_family_same(&milan, &milan));
	assert_false(processor_family_same(&milan, &rome));
	assert_true(processor_family_same_line(&milan, &rome));
	assert_false(processor_family_same_line(&unknown, &unknown));
	processor_family_of("amd_epyc", &unknown);
	assert_false(processor_family_same(&unknown, &unknown));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_equality_needs_all_words),
	};

	return unit_run(tests);
}
