// SPDX-License-Identifier: Apache-2.0
#include "base/text/uuid.h"

#include "tests/unit/unit.h"

static bool reads(const char *text, struct uuid *ret)
{
	return uuid_parse(text, strlen(text), ret);
}

static void case_does_not_matter(void **state)
{
	struct uuid lower, upper;

	assert_true(reads("0123abcd-ef01-4567-89ab-cdef01234567", &lower));
	assert_true(reads("0123ABCD-EF01-4567-89AB-CDEF01234567", &upper));
	assert_true(lower.high == 0x0123abcdef014567 && lower.low == 0x89abcdef01234567);
	assert_true(uuid_is_same(&lower, &upper) && uuid_is_set(&lower));
	upper.low++;
	assert_false(uuid_is_same(&lower, &upper));
}

static void an_invalid_uuid_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"00000000-0000-0000-0000-000000000000",
		"0123abcd-ef01-4567-89ab-cdef0123456",
		"0123abcd-ef01-4567-89ab-cdef012345678",
		"0123abcd-ef01-4567-89ab-cdef0123456g",
		"0123abcdeef01-4567-89ab-cdef01234567",
		"0123abcd-ef01-4567-89ab--def01234567",
		"{123abcd-ef01-4567-89ab-cdef0123456}",
	};
	struct uuid uuid = { 1, 2 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(reads(texts[i], &uuid));
	assert_true(uuid.high == 1 && uuid.low == 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_does_not_matter),
		cmocka_unit_test(an_invalid_uuid_is_refused),
	};

	return unit_run(tests);
}
