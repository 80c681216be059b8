// SPDX-License-Identifier: Apache-2.0
#include "host/nominal_frequency.h"

#include "tests/unit/unit.h"

static void test_names_that_say_it(void **state)
{
	static const struct {
		const char *model;
		double ghz;
	} cases[] = {
		{ "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 2.4 },
		{ "AMD EPYC 7702 64-Core Processor", 2.0 },
		{ "AMD EPYC 7F52 16-Core Processor", 3.5 },
		{ "AMD EPYC 7203P 8-Core Processor", 2.8 }, /* the first and the last row */
		{ "AMD EPYC 9754S 128-Core Processor", 2.25 },
		{ "AMD EPYC", 0 },
		{ "AMD EPYC-Rome Processor", 0 },
		{ "AMD EPYC 7R13 Processor", 0 },
		{ "AMD EPYC 123456789012345678901 Processor", 0 },
		{ "Intel(R) Xeon(R) Gold 6330 @ many GHz", 0 },
		{ "INTEL(R) XEON(R) PLATINUM 8592+", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(fabs(nominal_frequency_ghz(cases[i].model) - cases[i].ghz) < 1e-9);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_that_say_it),
	};

	return unit_run(tests);
}
