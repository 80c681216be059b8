// SPDX-License-Identifier: Apache-2.0
#include "base/diag.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void sets_and_returns(void **state)
{
	struct diag diag;

	(void)state;
	assert_int_equal(diag_set(&diag, -EINVAL, "%s:%d", "f", 3), -EINVAL);
	assert_string_equal(diag.text, "f:3");
	assert_int_equal(diag_set(NULL, -ENOMEM, "ignored"), -ENOMEM);
}

static void cuts_long_texts(void **state)
{
	char longer[2 * DIAG_TEXT_MAX];
	struct diag diag;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(diag_set(&diag, 0, "%s", longer), 0);
	assert_int_equal(strlen(diag.text), DIAG_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_and_returns),
		cmocka_unit_test(cuts_long_texts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
