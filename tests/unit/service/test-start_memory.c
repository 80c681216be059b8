// SPDX-License-Identifier: Apache-2.0
#include "service/start_memory.h"

#include <fcntl.h>

#include "base/file.h"
#include "tests/unit/unit.h"

/* Read-only and larger than all the rest of the program's code. */
#define CONSTANTS (4 << 20)
__attribute__((aligned(4096))) static const char constants[CONSTANTS] = { 1, [CONSTANTS - 1] = 2 };
static int variable = 3;

/* Resident pages of files, from /proc/self/status. */
static unsigned long file_kb(void)
{
	char text[4096];
	const char *line;

	assert_true(read_file_at(AT_FDCWD, "/proc/self/status", text, sizeof(text)) > 0);
	line = strstr(text, "RssFile:");
	assert_non_null(line);
	return strtoul(line + strlen("RssFile:"), NULL, 10);
}

static unsigned long sum_of_constants(void)
{
	const volatile char *at = constants;
	unsigned long sum = 0;

	for (size_t i = 0; i < CONSTANTS; i++)
		sum += (unsigned char)at[i];
	return sum;
}

static void code_goes_and_comes_back_and_data_stays(void **state)
{
	unsigned long before_kb;

	variable = 4;
	assert_int_equal(sum_of_constants(), 3);
	before_kb = file_kb();
	assert_true(before_kb >= CONSTANTS / 1024);
	start_memory_release();
	assert_true(file_kb() < before_kb - CONSTANTS / 1024 / 2);
	assert_int_equal(variable, 4);
	assert_int_equal(sum_of_constants(), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_goes_and_comes_back_and_data_stays),
	};

	return unit_run(tests);
}
