// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"

#include <pty.h>

#include "tests/unit/unit.h"

static void a_terminal_has_colours_unless_they_are_refused(void **state)
{
	CLEANUP_FD int ours = -1, its = -1;

	assert_int_equal(openpty(&ours, &its, NULL, NULL, NULL), 0);
	(void)setenv("TERM", "xterm-256color", 1);
	(void)unsetenv("NO_COLOR");
	assert_true(terminal_wants_colour(its));
	(void)setenv("NO_COLOR", "", 1);
	assert_true(terminal_wants_colour(its));
	(void)setenv("NO_COLOR", "1", 1);
	assert_false(terminal_wants_colour(its));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	assert_false(terminal_wants_colour(its));
}

static void a_pipe_has_no_size(void **state)
{
	unsigned rows = 1, columns = 1;
	int pipes[2];

	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	assert_int_equal(pipe(pipes), 0);
	assert_false(terminal_wants_colour(pipes[1]));
	terminal_size(pipes[1], &rows, &columns);
	assert_int_equal(rows, 0);
	assert_int_equal(columns, 0);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}

static void a_terminal_says_its_size(void **state)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	CLEANUP_FD int ours = -1, its = -1;
	unsigned rows, columns;

	assert_int_equal(openpty(&ours, &its, NULL, NULL, &size), 0);
	terminal_size(its, &rows, &columns);
	assert_int_equal(rows, 24);
	assert_int_equal(columns, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_has_colours_unless_they_are_refused),
		cmocka_unit_test(a_pipe_has_no_size),
		cmocka_unit_test(a_terminal_says_its_size),
	};

	return unit_run(tests);
}
