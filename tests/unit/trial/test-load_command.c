// SPDX-License-Identifier: Apache-2.0
#include "trial/load_command.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static const struct load_cgroup none = { .count = 0 };

static void wait_until_ended(struct command_load *load)
{
	const struct timespec pause = { 0, 1000000 };

	while (!command_load_has_ended(load))
		(void)nanosleep(&pause, NULL);
}

static void run(const char *command, struct load_result *ret)
{
	struct command_load load;

	*ret = (struct load_result){ 0 };
	assert_int_equal(command_load_start(command, &none, &load), 0);
	wait_until_ended(&load);
	command_load_stop(&load, &none, 2, 0, ret);
	assert_false(command_load_has_ended(&load));
}

static void a_command_ends_by_itself(void **state)
{
	struct load_result result;

	run("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done", &result);
	assert_string_equal(result.outcome, "exited with status 0 after 2.0 s");
	assert_false(result.has_failed);
	assert_true(result.cpu_s > 0);
	run("exit 3", &result);
	assert_string_equal(result.outcome, "exited with status 3 after 2.0 s");
	assert_true(result.has_failed);
	run("kill -9 $$", &result);
	assert_string_equal(result.outcome, "was killed by signal 9 after 2.0 s");
	assert_true(result.has_failed);
}

static void a_command_is_ended(void **state)
{
	struct load_result result = { 0 };
	struct command_load load;

	assert_int_equal(command_load_start("sleep 1000", &none, &load), 0);
	command_load_stop(&load, &none, 7, 60, &result);
	assert_string_equal(result.outcome, "was ended after 7.0 s");
	assert_false(result.has_failed);
}

/* One that ignores SIGTERM, as do its children, gets SIGKILL. */
static void a_command_that_does_not_end_is_killed(void **state)
{
	struct load_result result = { 0 };
	struct command_load load;
	int fds[2];
	char command[96], byte;

	assert_int_equal(pipe(fds), 0);
	(void)snprintf(command, sizeof(command),
		       "trap '' TERM; (echo x >&%d; exec sleep 1000); sleep 1000", fds[1]);
	assert_int_equal(command_load_start(command, &none, &load), 0);
	assert_int_equal(close(fds[1]), 0);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	command_load_stop(&load, &none, 7, 0, &result);
	/* The last process that had the pipe is gone. */
	while (read(fds[0], &byte, 1) > 0)
		;
	assert_int_equal(close(fds[0]), 0);
	assert_string_equal(result.outcome, "was ended after 7.0 s");
}

static void nothing_that_was_not_started_ends(void **state)
{
	struct load_result result = { .cpu_s = 3 };
	struct command_load load = { 0 };

	assert_false(command_load_has_ended(&load));
	command_load_stop(&load, &none, 7, 0, &result);
	assert_true(fabs(result.cpu_s - 3) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_ends_by_itself),
		cmocka_unit_test(a_command_is_ended),
		cmocka_unit_test(a_command_that_does_not_end_is_killed),
		cmocka_unit_test(nothing_that_was_not_started_ends),
	};
	return unit_run(tests);
}
