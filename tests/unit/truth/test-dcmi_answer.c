// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/dcmi_answer.h"

#include <errno.h>

#include "tests/unit/unit.h"

static int watts(const char *bytes, size_t len, double *ret_w)
{
	struct diag diag = { "" };
	int r = dcmi_answer_watts((const uint8_t *)bytes, len, ret_w, &diag);

	assert_true((r < 0) == (diag.text[0] != '\0'));
	return r;
}

static void a_power_is_read(void **state)
{
	double power = 0;

	assert_int_equal(watts("\0\xdc\x2c\x01\x10\0", 6, &power), 0);
	assert_true(power > 299.5 && power < 300.5);
}

static void an_answer_without_power_is_reported(void **state)
{
	double power;

	assert_int_equal(watts("", 0, &power), -EBADMSG);
	assert_int_equal(watts("\0\xdc\x2c", 3, &power), -EBADMSG);
	assert_int_equal(watts("\0\xdd\x2c\x01", 4, &power), -EBADMSG);
	assert_int_equal(watts("\0\xdc\0\0", 4, &power), -ENODATA);
	assert_int_equal(watts("\xc1", 1, &power), -ENODATA);
	assert_int_equal(watts("\xc0", 1, &power), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_is_read),
		cmocka_unit_test(an_answer_without_power_is_reported),
	};
	return unit_run(tests);
}
