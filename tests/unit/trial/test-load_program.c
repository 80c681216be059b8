// SPDX-License-Identifier: Apache-2.0
#include "trial/load_program.h"

#include <sched.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void a_program_is_found_in_the_path(void **state)
{
	assert_true(load_program_is_installed("sh"));
	assert_false(load_program_is_installed("kepler-no-such-program"));
}

static void its_output_is_read(void **state)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" },
			       (char[]){ "echo on; exec sleep 1000" }, NULL };
	struct load_program program;
	char text[64] = "";

	assert_int_equal(load_program_start(argv, &program), 0);
	while (lseek(program.output, 0, SEEK_END) == 0)
		(void)sched_yield();
	assert_int_equal(load_program_stop(&program, text, sizeof(text)), 3);
	assert_string_equal(text, "on\n");
	assert_int_equal(program.pid, 0);
	assert_int_equal(load_program_stop(&program, text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_is_found_in_the_path),
		cmocka_unit_test(its_output_is_read),
	};
	return unit_run(tests);
}
