// SPDX-License-Identifier: Apache-2.0
/* Real signals, sent to a child that starts, or pretends to. */
#include "service/start_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/signals.h"
#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

#define LONG_NS (3600 * NSEC_PER_SEC)
#define LONG_MS 20000

static int given_up_fd;

static void give_up(void)
{
	(void)eventfd_write(given_up_fd, 1);
}

static bool is_readable(int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, wait_ms) == 1;
}

/* The watch has taken what came. */
static bool is_taken(int signal_fd)
{
	for (int i = 0; i < LONG_MS; i++) {
		if (!is_readable(signal_fd, 0))
			return true;
		(void)poll(NULL, 0, 1);
	}
	return false;
}

static int begin(struct start_watch *watch, uint64_t patience_ns)
{
	int fd = signals_open();

	given_up_fd = eventfd(0, 0);
	return fd < 0 || start_watch_begin(watch, fd, patience_ns, give_up) < 0 ? -1 : fd;
}

static int stop_while_it_hangs(const void *argument)
{
	struct start_watch watch;
	int fd = begin(&watch, 0);

	(void)argument;
	if (fd < 0 || kill(getpid(), SIGTERM) < 0 || !is_readable(given_up_fd, LONG_MS))
		return 1;
	return start_watch_end(&watch) == SIGNAL_STOP ? 0 : 2;
}

static void test_a_stop_ends_a_start_that_hangs(void **state)
{
	assert_int_equal(in_child(stop_while_it_hangs, NULL), 0);
}

static int stop_while_it_starts(const void *argument)
{
	struct start_watch watch;
	int fd = begin(&watch, LONG_NS);

	(void)argument;
	if (fd < 0 || kill(getpid(), SIGTERM) < 0 || kill(getpid(), SIGHUP) < 0 || !is_taken(fd))
		return 1;
	if (start_watch_end(&watch) != (SIGNAL_STOP | SIGNAL_RELOAD))
		return 2;
	return is_readable(given_up_fd, 0) ? 3 : 0;
}

static void test_what_came_is_handed_on(void **state)
{
	assert_int_equal(in_child(stop_while_it_starts, NULL), 0);
}

static int reload_while_it_starts(const void *argument)
{
	struct start_watch watch;
	int fd = begin(&watch, 0);

	(void)argument;
	for (int i = 0; i < 3; i++) { /* it looks again, and patience is over each time */
		if (fd < 0 || kill(getpid(), SIGHUP) < 0 || !is_taken(fd))
			return 1;
	}
	if (start_watch_end(&watch) != SIGNAL_RELOAD)
		return 2;
	return is_readable(given_up_fd, 0) ? 3 : 0;
}

static void test_a_reload_ends_nothing(void **state)
{
	assert_int_equal(in_child(reload_while_it_starts, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stop_ends_a_start_that_hangs),
		cmocka_unit_test(test_what_came_is_handed_on),
		cmocka_unit_test(test_a_reload_ends_nothing),
	};

	return unit_run(tests);
}
