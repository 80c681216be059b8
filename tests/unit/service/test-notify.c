// SPDX-License-Identifier: Apache-2.0
/* The service manager's end is a real socket. */
#include "service/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/unit/unit.h"

static int manager_socket(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(
		bind(fd, (const struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] == '/'))),
		0);
	return fd;
}

static void expect(int fd, const char *text)
{
	char got[600];
	ssize_t n = recv(fd, got, sizeof(got) - 1, 0);

	assert_true(n >= 0);
	got[n] = '\0';
	assert_string_equal(got, text);
}

static void expect_nothing(int fd)
{
	char got[8];

	assert_int_equal(recv(fd, got, sizeof(got), 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void talk(const char *name)
{
	int fd = manager_socket(name);
	struct notify *notify = notify_open_with(name, NULL, NULL);

	assert_non_null(notify);
	notify_ready(notify, "measuring with rapl");
	expect(fd, "READY=1\nSTATUS=measuring with rapl");
	notify_ready(notify, NULL);
	expect(fd, "READY=1\n");
	notify_status(notify, "two\nlines\nREADY=0");
	expect(fd, "STATUS=two lines READY=0");
	notify_reloading(notify, 12345678901ULL);
	expect(fd, "RELOADING=1\nMONOTONIC_USEC=12345678");
	notify_stopping(notify);
	expect(fd, "STOPPING=1");
	notify_watchdog(notify, NSEC_PER_SEC); /* none is kept */
	expect_nothing(fd);
	assert_int_equal(close(fd), 0);
	notify_status(notify, "nothing there"); /* no signal, no harm */
	notify_close(notify);
}

static void path_socket(void **state)
{
	char dir[] = "/tmp/kepler-test-XXXXXX", path[64];

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/notify", dir);
	talk(path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void abstract_socket(void **state)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "@kepler-test-%d", (int)getpid());
	talk(name);
}

static void watchdog(void **state)
{
	char name[64], pid[16];
	struct notify *notify;
	int fd;

	(void)snprintf(name, sizeof(name), "@kepler-test-dog-%d", (int)getpid());
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	fd = manager_socket(name);
	notify = notify_open_with(name, "30000000", pid);
	assert_true(notify_watchdog_ns(notify) == 30 * NSEC_PER_SEC);
	notify_watchdog(notify, 100 * NSEC_PER_SEC);
	expect(fd, "WATCHDOG=1");
	notify_watchdog(notify, 101 * NSEC_PER_SEC);
	expect_nothing(fd); /* a third of the time-out has not passed */
	notify_watchdog(notify, 110 * NSEC_PER_SEC);
	expect(fd, "WATCHDOG=1");
	notify_close(notify);

	notify = notify_open_with(name, "30000000", "1"); /* another process's watchdog */
	assert_true(notify_watchdog_ns(notify) == 0);
	notify_close(notify);
	notify = notify_open_with(name, "many", NULL);
	assert_true(notify_watchdog_ns(notify) == 0);
	notify_close(notify);
	assert_int_equal(close(fd), 0);
}

static void nothing_listens(void **state)
{
	char longer[300];

	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_null(notify_open_with(NULL, NULL, NULL));
	assert_null(notify_open_with("", NULL, NULL));
	assert_null(notify_open_with("relative", NULL, NULL));
	assert_null(notify_open_with("/nonexistent/socket", NULL, NULL));
	assert_null(notify_open_with("vsock:2:1234", NULL, NULL));
	assert_null(notify_open_with(longer, NULL, NULL));
	notify_ready(NULL, "x");
	notify_status(NULL, NULL);
	notify_reloading(NULL, 1);
	notify_stopping(NULL);
	notify_watchdog(NULL, 1);
	assert_true(notify_watchdog_ns(NULL) == 0);
	notify_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_socket),
		cmocka_unit_test(abstract_socket),
		cmocka_unit_test(watchdog),
		cmocka_unit_test(nothing_listens),
	};

	return unit_run(tests);
}
