// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/specpower_csv.h"

#include "tests/unit/unit.h"

#define NAMES                                                                                      \
	"node_type,processor,cores,chips,memory,frequency,bpf_cpu_time_ms,more,platform_power\n"
#define FACTS "amd_epyc_7763,128.0,2.0,512,2450"

static void test_rows_become_types(void **state)
{
	static const char text[] = NAMES "7," FACTS ",0,,100\n"
					 "7," FACTS ",10,,150\n"
					 "7," FACTS ",20,,180\n"
					 "7," FACTS ",30,,200\n"
					 "7," FACTS ",40,x,220\n"
					 "7," FACTS ",50,,240\n"
					 "7," FACTS ",60,,260\n"
					 "7," FACTS ",70,,280\n"
					 "7," FACTS ",80,,300\n"
					 "7," FACTS ",90,,320\n"
					 "7," FACTS ",100,,350\n";
	CLEANUP(platform_types_release) struct platform_types types = { .count = 0 };
	const struct machine_facts *facts;
	struct diag diag = { "" };

	assert_int_equal(specpower_csv_parse("t.csv", text, strlen(text), &types, &diag), 0);
	assert_int_equal(types.count, 1);
	assert_int_equal(types.row_count, 11);
	facts = &types.types[0].facts;
	assert_string_equal(facts->cpu.key, "epyc7763");
	assert_string_equal(facts->vendor, "amd");
	assert_int_equal(facts->cores, 128);
	assert_int_equal(facts->sockets, 2);
	assert_true(fabs(facts->memory_gib - 512) < 1e-9);
	assert_true(fabs(facts->frequency_ghz - 2.45) < 1e-9);
	assert_true(fabs(exp(types.types[0].ln_w[10]) - 350) < 1e-6);
}

static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "t.csv:1: it is empty" },
		{ "node_type,processor\n", "t.csv:1: there is no column cores" },
		{ NAMES "1," FACTS ",0,100\n",
		  "t.csv:2:41: this line has 8 cells, the first one has 9" },
		{ NAMES "1," FACTS ",0,,\n",
		  "t.csv:2: platform_power must be a number from 0.001" },
		{ NAMES "1," FACTS ",0,,0\n", "platform_power must be a number" },
		{ NAMES "1," FACTS ",-1,,5\n", "bpf_cpu_time_ms must be a number from 0" },
		{ NAMES "1,vax,1,1,1,1,0,,5\n", "t.csv:2: the year of the processor \"vax\"" },
		{ NAMES "1," FACTS ",0,,5\n", "t.csv: node type 1 has rows of one load only" },
		{ NAMES, "t.csv: there are no rows" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct platform_types types;
		struct diag diag = { "" };

		assert_int_equal(specpower_csv_parse("t.csv", cases[i].text, strlen(cases[i].text),
						     &types, &diag),
				 -EINVAL);
		if (!strstr(diag.text, cases[i].says))
			fail_msg("\"%s\" is not in \"%s\"", cases[i].says, diag.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_become_types),
		cmocka_unit_test(test_what_is_wrong_is_named),
	};

	return unit_run(tests);
}
