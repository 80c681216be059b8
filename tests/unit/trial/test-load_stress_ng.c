// SPDX-License-Identifier: Apache-2.0
#include "trial/load_stress_ng.h"

#include "tests/unit/unit.h"

static const char output[] =
	"stress-ng: info:  [26242] dispatching hogs: 1 cpu\n"
	"stress-ng: metrc: [26242] stressor       bogo ops real time  usr time\n"
	"stress-ng: metrc: [26242]                           (secs)    (secs)\n"
	"stress-ng: metrc: [26242] cpu                1449      2.96      0.80\n"
	"stress-ng: info:  [26242] successful run completed in 2.98s\n";

static void operations_are_read(void **state)
{
	assert_int_equal(stress_ng_operations(output, "cpu"), 1449);
	assert_int_equal(stress_ng_operations("stress-ng: info:  [9] cpu   12 1.0\n", "cpu"), 12);
}

static void without_a_line_there_are_none(void **state)
{
	assert_int_equal(stress_ng_operations(output, "matrix"), 0);
	assert_int_equal(stress_ng_operations("", "cpu"), 0);
	assert_int_equal(stress_ng_operations("] cpu", "cpu"), 0);
	assert_int_equal(stress_ng_operations("] cpu x", "cpu"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_read),
		cmocka_unit_test(without_a_line_there_are_none),
	};
	return unit_run(tests);
}
