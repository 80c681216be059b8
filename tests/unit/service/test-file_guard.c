// SPDX-License-Identifier: Apache-2.0
#include "service/file_guard.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char path[64];

static int setup(void **state)
{
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/test-file_guard-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)unlink(path);
	return 0;
}

static void test_what_is_kept_stays(void **state)
{
	struct file_guard guard = { .fd = -1 };

	assert_int_equal(file_guard_begin(&guard, path, NULL), 0);
	file_guard_end(&guard, true);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(guard.fd, -1);
	file_guard_end(&guard, false); /* nothing is guarded any more */
	assert_int_equal(access(path, F_OK), 0);
}

static void test_what_fails_is_removed(void **state)
{
	struct file_guard guard = { .fd = -1 };
	int helper_fd;

	assert_int_equal(file_guard_begin(&guard, path, NULL), 0);
	helper_fd = dup(guard.fd); /* held open elsewhere */
	assert_true(helper_fd >= 0);
	file_guard_end(&guard, false);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(close(helper_fd), 0);
}

static void test_a_process_that_dies_leaves_nothing(void **state)
{
	struct file_guard guard = { .fd = -1 };
	char none;

	assert_int_equal(file_guard_begin(&guard, path, NULL), 0);
	assert_int_equal(shutdown(guard.fd, SHUT_WR), 0); /* as the kernel does then */
	assert_int_equal(read(guard.fd, &none, 1), 0);    /* until the guard has ended */
	assert_int_equal(close(guard.fd), 0);
	assert_int_equal(access(path, F_OK), -1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_kept_stays),
		TEST(test_what_fails_is_removed),
		TEST(test_a_process_that_dies_leaves_nothing),
	};

	return unit_run(tests);
}
