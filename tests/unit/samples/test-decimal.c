// SPDX-License-Identifier: Apache-2.0
/* What is read is what strtod makes of the same text, to the bit, or is left to it. */
#include "samples/decimal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

#define NUMBERS 20000

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 11;
}

/* Whether it was read; then it must be right. */
static bool check(const char *text)
{
	double value = 0, expected = strtod(text, NULL);
	const char *end = decimal_read(text, text + strlen(text), &value);

	if (!end)
		return false;
	assert_ptr_equal(end, text + strlen(text));
	if (memcmp(&value, &expected, sizeof(value)) != 0)
		fail_msg("%s: %.17g, not %.17g", text, value, expected);
	return true;
}

static void test_numbers_of_any_length(void **state)
{
	uint64_t random = 1;
	unsigned read = 0;
	char text[64];

	(void)state;
	for (unsigned i = 0; i < NUMBERS; i++) {
		uint64_t digits = (next(&random) << 11 | next(&random)) >> next(&random) % 60;

		(void)snprintf(text, sizeof(text), "%s%llu.%0*u", i % 3 ? "" : "-",
			       (unsigned long long)(digits >> i % 32), (int)(1 + i % 9),
			       (unsigned)(next(&random) % 10));
		read += check(text);
		(void)snprintf(text, sizeof(text), "%.*ge%d", (int)(1 + i % 17), (double)digits / 7,
			       (int)(i % 30) - 15);
		if (!strchr(strchr(text, 'e') + 1, 'e'))
			read += check(text);
	}
	assert_true(read > NUMBERS / 4);
}

/* A double, as text that reads back the same, and the text in the middle of two doubles. */
static void test_near_the_middle_of_two_doubles(void **state)
{
	uint64_t random = 2;
	char text[64];

	(void)state;
	for (unsigned i = 0; i < NUMBERS; i++) {
		uint64_t bits = (1ULL << 53) + next(&random);

		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)(2 * bits + 1));
		(void)check(text);
		(void)snprintf(text, sizeof(text), "%.17g", (double)bits / 3e9);
		(void)check(text);
	}
	assert_true(check("0") && check("-0") && check("5.") && check(".5") && check("+1e3"));
	assert_true(check("1E-22") && check("123456789012345e-3"));
}

/* Of some, 64 bits of the quotient lie in the middle of two doubles, and the number does not. */
static void test_quotients_of_nineteen_digits(void **state)
{
	uint64_t random = 3;
	char text[64];

	(void)state;
	for (unsigned i = 0; i < 5 * NUMBERS; i++) {
		(void)snprintf(text, sizeof(text), "%llue-%u",
			       (unsigned long long)(1000000000000000000ULL + next(&random) * 512),
			       1 + i % 22);
		(void)check(text);
	}
}

static void test_left_to_others(void **state)
{
	static const char *const texts[] = { "",      "-",   ".",       "e5",
					     "1e",    "1e+", "nan",     "1e23",
					     "1e-23", "x",   "1e99999", "12345678901234567890" };
	double value;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_null(decimal_read(texts[i], texts[i] + strlen(texts[i]), &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_of_any_length),
		cmocka_unit_test(test_near_the_middle_of_two_doubles),
		cmocka_unit_test(test_quotients_of_nineteen_digits),
		cmocka_unit_test(test_left_to_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
