// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_budget.h"

#include <math.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

static void energies_have_units(void **state)
{
	static const struct {
		const char *text;
		double joules;
	} good[] = { { "500J", 500 },    { "1.5kJ", 1500 }, { "2 MJ", 2e6 },
		     { "0.001Wh", 3.6 }, { "1kWh", 3.6e6 }, { "1e3J", 1000 } };
	double joules;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(stat_budget_parse(good[i].text, &joules), 0);
		assert_true(fabs(joules - good[i].joules) < 1e-9 * good[i].joules);
	}
}

static void anything_else_is_refused(void **state)
{
	static const char *const bad[] = { "",    "500",  "J",    "-5J",  "0J",     "5j",
					   "5KJ", "5J x", "infJ", "nanJ", "1e400J", " 5J" };
	double joules = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(stat_budget_parse(bad[i], &joules) < 0);
	assert_true(fabs(joules - 7) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energies_have_units),
		cmocka_unit_test(anything_else_is_refused),
	};

	return unit_run(tests);
}
