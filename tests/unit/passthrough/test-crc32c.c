// SPDX-License-Identifier: Apache-2.0
/* The checksum, against the examples of RFC 3720 appendix B.4. */
#include "passthrough/crc32c.h"

#include "tests/unit/unit.h"

static void test_examples_of_the_standard(void **state)
{
	uint8_t bytes[32] = { 0 };

	assert_int_equal(crc32c("", 0), 0);
	assert_int_equal(crc32c("123456789", 9), 0xE3069283U);
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x8A9136AAU);
	memset(bytes, 0xFF, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x62A8AB43U);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x46DD794EU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_of_the_standard),
	};

	return unit_run(tests);
}
