// SPDX-License-Identifier: Apache-2.0
#include "meter/cray/cray_pm_text.h"

#include "tests/unit/unit.h"

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t energy_uj, time_us;
	} cases[] = {
		{ "251304 J 1700000000000000 us\n", 0, 251304000000, 1700000000000000 },
		{ "0 J 1 us\n", 0, 0, 1 },
		{ "17 J\n", 0, 17000000, 0 },
		{ "17J 5us\n", 0, 17000000, 5 },
		{ "18446744073709 J 1 us\n", 0, 18446744073709000000U, 1 },
		{ "18446744073710 J 1 us\n", -ERANGE, 0, 0 },
		{ "99999999999999999999 J 1 us\n", -ERANGE, 0, 0 },
		{ "251304 J 1700000000000000 us", -EBADMSG, 0, 0 },
		{ "251304", -EBADMSG, 0, 0 },
		{ "", -EBADMSG, 0, 0 },
		{ "\n", -EINVAL, 0, 0 },
		{ "251304\n", -EINVAL, 0, 0 },
		{ "251304 W 1700000000000000 us\n", -EINVAL, 0, 0 },
		{ "251304 J 17 ms\n", -EINVAL, 0, 0 },
		{ "251304 J 17 us 1\n", -EINVAL, 0, 0 },
		{ "-5 J 17 us\n", -EINVAL, 0, 0 },
		{ "251304 J us\n", -EINVAL, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t energy_uj = 77, time_us = 77;
		int r = cray_pm_energy_parse(cases[i].text, (ssize_t)strlen(cases[i].text),
					     &energy_uj, &time_us);

		if (r != cases[i].result)
			fail_msg("\"%s\": %d", cases[i].text, r);
		assert_true(energy_uj == (r < 0 ? 77 : cases[i].energy_uj));
		assert_true(time_us == (r < 0 ? 77 : cases[i].time_us));
	}
	assert_int_equal(cray_pm_energy_parse("", -EIO, NULL, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts) };

	return unit_run(tests);
}
