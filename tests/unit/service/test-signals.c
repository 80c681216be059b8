// SPDX-License-Identifier: Apache-2.0
/* Real signals, sent to a child that would die of them. */
#include "service/signals.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

static int storm(const void *argument)
{
	int fd = signals_open();

	(void)argument;
	if (fd < 0 || signals_take(fd) != 0)
		return 1;
	for (int i = 0; i < 1000; i++)
		(void)raise(SIGHUP);
	if (signals_take(fd) != SIGNAL_RELOAD || signals_take(fd) != 0)
		return 2;
	(void)raise(SIGTERM);
	(void)raise(SIGHUP);
	return signals_take(fd) == (SIGNAL_RELOAD | SIGNAL_STOP) ? 0 : 3;
}

static void what_came_often_came_once(void **state)
{
	assert_int_equal(in_child(storm, NULL), 0);
}

static int strays(const void *argument)
{
	static const int numbers[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,  SIGIO,
				       SIGXFSZ, SIGXCPU, SIGPIPE, SIGPWR,    SIGSTKFLT };
	int fd = signals_open();

	(void)argument;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		(void)raise(numbers[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		(void)raise(number);
	return fd >= 0 && signals_take(fd) == 0 ? 0 : 1;
}

static void what_means_nothing_ends_nothing(void **state)
{
	assert_int_equal(in_child(strays, NULL), 0);
}

static int quit(const void *argument)
{
	const struct rlimit no_core = { 0, 0 };

	(void)argument;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(SIGQUIT, SIG_DFL); /* a job in the background of a script ignores it */
	(void)signals_open();
	(void)raise(SIGQUIT);
	return 0;
}

static void quit_still_ends_it(void **state)
{
	assert_int_not_equal(in_child(quit, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_often_came_once),
		cmocka_unit_test(what_means_nothing_ends_nothing),
		cmocka_unit_test(quit_still_ends_it),
	};

	return unit_run(tests);
}
