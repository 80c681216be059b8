// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text/utf8.h"
#include "tests/unit/unit.h"

#define TIME_MS 1700000000123LL /* 2023-11-14T22:13:20.123Z */

static void formats(void **state)
{
	char line[LOG_LINE_MAX];
	int len;

	len = log_format_line(line, sizeof(line), LOG_FORMAT_TEXT, LOG_LEVEL_WARN, TIME_MS, 0,
			      "a \"b\"\n");
	assert_string_equal(
		line, "time=2023-11-14T22:13:20.123Z level=warn msg=\"a \\\"b\\\"\\u000a\"\n");
	assert_int_equal(len, strlen(line));
	(void)log_format_line(line, sizeof(line), LOG_FORMAT_TEXT, LOG_LEVEL_ERROR, TIME_MS,
			      -ENOENT, "x");
	assert_string_equal(line, "time=2023-11-14T22:13:20.123Z level=error msg=\"x\" "
				  "error=\"No such file or directory\"\n");
	(void)log_format_line(line, sizeof(line), LOG_FORMAT_JSON, LOG_LEVEL_DEBUG, TIME_MS, 0,
			      "x");
	assert_string_equal(
		line,
		"{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"debug\",\"msg\":\"x\"}\n");
	(void)log_format_line(line, sizeof(line), LOG_FORMAT_JSON, LOG_LEVEL_INFO, TIME_MS, -99999,
			      "x");
	assert_string_equal(line,
			    "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"info\",\"msg\":"
			    "\"x\",\"error\":\"unknown error\"}\n");
}

/* However long the message and whatever is at the cut, the line is whole. */
static void cuts_at_whole_characters(void **state)
{
	static const char tail[] = "\",\"error\":\"Input/output error\"}\n";
	static const char *const pieces[] = { "x", "\"", "\x01", "é", "😀", "\xff", "\\" };

	for (size_t p = 0; p < sizeof(pieces) / sizeof(pieces[0]); p++) {
		for (size_t lead = 0; lead < 8; lead++) {
			char msg[2000], line[LOG_LINE_MAX];
			size_t n = lead, len;

			memset(msg, 'a', lead);
			while (n + 5 < sizeof(msg))
				n += (size_t)snprintf(msg + n, sizeof(msg) - n, "%s", pieces[p]);
			len = (size_t)log_format_line(line, sizeof(line), LOG_FORMAT_JSON,
						      LOG_LEVEL_INFO, TIME_MS, -EIO, msg);
			assert_true(len < sizeof(line) && len + 12 > sizeof(line));
			assert_string_equal(line + len - strlen(tail), tail);
			for (size_t i = 0; i < len;) {
				size_t step = utf8_char_len(line + i, len - i);

				assert_true(step > 0);
				i += step;
			}
		}
	}
}

static void rate(void **state)
{
	struct log_rate rate = { 0 };
	uint64_t held = 42;

	for (int i = 0; i < LOG_BURST; i++) {
		assert_true(log_rate_pass(&rate, 100, &held));
		assert_true(held == 0);
	}
	for (int i = 0; i < 7; i++)
		assert_false(log_rate_pass(&rate, 100, &held));
	assert_true(log_rate_pass(&rate, 101, &held));
	assert_true(held == 7); /* said once */
	assert_true(log_rate_pass(&rate, 102, &held));
	assert_true(held == 0);
}

/* Lines go to standard error, below the level they do not; errno and the error code come back. */
static void writes_lines(void **state)
{
	char path[] = "/tmp/kepler-test-XXXXXX", *text;
	int fd = mkstemp(path), saved = dup(STDERR_FILENO);

	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	log_setup(LOG_LEVEL_WARN, LOG_FORMAT_TEXT);
	errno = EDOM;
	log_info("not this");
	log_warn("this %d", 1);
	assert_int_equal(log_error_errno(-EPERM, "that"), -EPERM);
	assert_int_equal(log_warn_errno(-EIO, "also"), -EIO);
	assert_int_equal(errno, EDOM);
	assert_int_equal(log_get_level(), LOG_LEVEL_WARN);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);

	assert_int_equal(read_file_alloc(path, 4096, &text, NULL), 0);
	assert_null(strstr(text, "not this"));
	assert_non_null(strstr(text, "level=warn msg=\"this 1\"\n"));
	assert_non_null(
		strstr(text, "level=error msg=\"that\" error=\"Operation not permitted\"\n"));
	assert_non_null(strstr(text, "level=warn msg=\"also\" error=\"Input/output error\"\n"));
	free(text);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(saved), 0);
	assert_int_equal(unlink(path), 0);
}

/* Keeps standard error in a pipe or socket, @fds[1], while the test runs. */
static int take_stderr(int fd)
{
	int saved = dup(STDERR_FILENO);

	assert_true(saved >= 0);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	return saved;
}

static void give_stderr_back(int saved)
{
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
}

static ssize_t send_or_write(int fd, const void *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_DONTWAIT);

	return n < 0 && errno == ENOTSOCK ? write(fd, data, len) : n;
}

static void fill(int fd)
{
	static const char block[512];
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	while (poll(&room, 1, 0) == 1)
		if (send_or_write(fd, block, sizeof(block)) < 0)
			break;
}

static void drain(int fd)
{
	char block[65536];
	struct pollfd left = { .fd = fd, .events = POLLIN };

	while (poll(&left, 1, 0) == 1)
		assert_true(read(fd, block, sizeof(block)) > 0);
}

/* Hangs, and is ended by alarm(), where logging waits for a reader. */
static void lose_and_say(const int fds[2])
{
	uint64_t before = log_lost_lines();
	char text[4096];
	ssize_t n;
	int saved;

	fill(fds[1]);
	(void)alarm(20);
	saved = take_stderr(fds[1]);
	for (int i = 0; i < 7; i++)
		log_error("nobody reads this");
	assert_int_equal(log_lost_lines() - before, 7);
	drain(fds[0]);
	log_error("now somebody does");
	log_error("and again");
	give_stderr_back(saved);
	(void)alarm(0);
	n = read(fds[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_non_null(strstr(text, "now somebody does"));
	assert_non_null(strstr(text, "7 lines before the last were lost"));
	assert_non_null(strstr(text, "and again"));
	assert_null(strstr(strstr(text, "were lost") + 1, "were lost")); /* said once */
	assert_int_equal(log_lost_lines() - before, 7);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void waits_for_no_reader_of_a_pipe(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	lose_and_say(fds);
}

/* As the journal gives it to a service. */
static void waits_for_no_reader_of_a_socket(void **state)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	lose_and_say(fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(cuts_at_whole_characters),
		cmocka_unit_test(rate),
		cmocka_unit_test(writes_lines),
		cmocka_unit_test(waits_for_no_reader_of_a_pipe),
		cmocka_unit_test(waits_for_no_reader_of_a_socket),
	};

	return unit_run(tests);
}
