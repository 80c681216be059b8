// SPDX-License-Identifier: Apache-2.0
#include "profile/folded.h"

#include "tests/unit/unit.h"

static void what_is_written_is_read(void **state)
{
	static const char text[] = "sh;main;run 12\nsh;main;do_read_[k] 7\nnode;tick_[j] 1\n"
				   "[no process] 40\n";
	struct strbuf out = STRBUF_INIT;
	struct profile profile;
	struct diag diag = { "" };

	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(folded_read(&profile, RUN_NOW, text, strlen(text), &diag), 0);
	folded_write(&profile, &out);
	assert_string_equal(out.data, text);
	assert_true(profile_sum_uj(&profile, RUN_NOW) == 60);
	strbuf_release(&out);
	profile_release(&profile);
}

static void two_runs_have_two_numbers(void **state)
{
	static const char now[] = "a;f 5\n", before[] = "a;f 3\na;g 2\n";
	struct strbuf out = STRBUF_INIT;
	struct profile profile;
	struct diag diag = { "" };

	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(folded_read(&profile, RUN_NOW, now, strlen(now), &diag), 0);
	assert_int_equal(folded_read(&profile, RUN_BEFORE, before, strlen(before), &diag), 0);
	profile.is_compared = true;
	folded_write(&profile, &out);
	assert_string_equal(out.data, "a;f 3 5\na;g 2 0\n");
	strbuf_release(&out);
	profile_release(&profile);
}

static void a_line_without_a_number_is_refused(void **state)
{
	static const char text[] = "a;f 5\na;f\n";
	struct profile profile;
	struct diag diag = { "" };

	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(folded_read(&profile, RUN_NOW, text, strlen(text), &diag), -EINVAL);
	assert_int_equal(strncmp(diag.text, "2: ", 3), 0);
	profile_release(&profile);
}

static void energies_that_overflow_are_refused(void **state)
{
	static const char text[] = "a 18446744073709551615\nb 1\n";
	struct profile profile;
	struct diag diag = { "" };

	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(folded_read(&profile, RUN_NOW, text, strlen(text), &diag), -EINVAL);
	assert_int_equal(strncmp(diag.text, "2: ", 3), 0);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(two_runs_have_two_numbers),
		cmocka_unit_test(a_line_without_a_number_is_refused),
		cmocka_unit_test(energies_that_overflow_are_refused),
	};

	return unit_run(tests);
}
