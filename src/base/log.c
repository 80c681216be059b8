// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/text/utf8.h"

#define LOCK_PATIENCE_MS 10 /* far more than a line takes */

/* The tree's only globals; written at start and on reload, read by every thread. */
static int global_level = LOG_LEVEL_INFO;
static int global_format = LOG_FORMAT_TEXT;

/* Lines lost so far, and how many of them have been reported. */
static uint64_t lost_lines, said_lines;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;

static struct log_rate rates[LOG_LEVEL_ERROR + 1];

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_setup(enum log_level level, enum log_format format)
{
	__atomic_store_n(&global_level, (int)level, __ATOMIC_RELAXED);
	__atomic_store_n(&global_format, (int)format, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
	return (enum log_level)__atomic_load_n(&global_level, __ATOMIC_RELAXED);
}

bool log_rate_pass(struct log_rate *rate, uint64_t second, uint64_t *ret_held)
{
	*ret_held = 0;
	if (__atomic_exchange_n(&rate->second, second, __ATOMIC_RELAXED) != second) {
		__atomic_store_n(&rate->passed, 0, __ATOMIC_RELAXED);
		*ret_held = __atomic_exchange_n(&rate->held, 0, __ATOMIC_RELAXED);
	}
	if (__atomic_add_fetch(&rate->passed, 1, __ATOMIC_RELAXED) <= LOG_BURST)
		return true;
	__atomic_add_fetch(&rate->held, 1, __ATOMIC_RELAXED);
	return false;
}

static void format_time(char *buf, size_t size, int64_t realtime_ms)
{
	time_t seconds = (time_t)(realtime_ms / 1000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	(void)snprintf(buf, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
		       tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		       (int)(realtime_ms % 1000));
}

/* Length of the escape or character at @text, which strbuf_add_json() made. */
static size_t escaped_len(const char *text, size_t len)
{
	if (text[0] == '\\')
		return text[1] == 'u' ? 6 : 2;
	return utf8_char_len(text, len);
}

/* Appends @text escaped, as much as whole characters fit @max bytes. */
static void add_message(struct strbuf *line, const char *text, size_t max)
{
	size_t start = line->len, end = start;

	strbuf_add_json(line, text);
	while (end < line->len) {
		size_t next = end + escaped_len(line->data + end, line->len - end);

		if (next - start > max)
			break;
		end = next;
	}
	line->len = end;
}

static void add_head(struct strbuf *line, enum log_format format, enum log_level level,
		     int64_t realtime_ms)
{
	char time_text[80];

	format_time(time_text, sizeof(time_text), realtime_ms);
	strbuf_addf(line,
		    format == LOG_FORMAT_JSON ? "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":\""
					      : "time=%s level=%s msg=\"",
		    time_text, level_names[level]);
}

/* The part after the message; error texts come from the C library and need no escapes. */
static void format_tail(char *buf, size_t size, enum log_format format, int err)
{
	bool json = format == LOG_FORMAT_JSON;
	const char *error = err ? strerrordesc_np(-err) : NULL;

	if (err)
		(void)snprintf(buf, size, "%s%s\"%s", json ? "\",\"error\":\"" : "\" error=\"",
			       error ? error : "unknown error", json ? "}" : "");
	else
		(void)snprintf(buf, size, json ? "\"}" : "\"");
}

int log_format_line(char *buf, int size, enum log_format format, enum log_level level,
		    int64_t realtime_ms, int err, const char *msg)
{
	struct strbuf line = STRBUF_INIT;
	char tail[160];
	size_t room = (size_t)size - 2; /* for the newline and the terminator */
	int len;

	add_head(&line, format, level, realtime_ms);
	format_tail(tail, sizeof(tail), format, err);
	add_message(&line, msg, room - line.len - strlen(tail));
	strbuf_add_str(&line, tail);
	len = strbuf_error(&line) < 0 ? 0 : (int)line.len;
	if (len)
		memcpy(buf, line.data, (size_t)len);
	buf[len++] = '\n';
	buf[len] = '\0';
	strbuf_release(&line);
	return len;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/*
 * Writes without waiting for a reader. poll() reports whether a line fits into a pipe, a socket or
 * a terminal, but another writer could fill it in between. The lock excludes our own threads, and
 * where the kernel supports it the write itself does not wait either. The descriptor is shared with
 * other processes, so it is not made non-blocking. Files are written directly.
 */
static ssize_t write_at_once(int fd, const char *line, size_t len)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	struct iovec part = { .iov_base = (void *)(uintptr_t)line, .iov_len = len };
	ssize_t n;

	if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
		return -1;
	n = send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n >= 0 || errno != ENOTSOCK)
		return n;
	if (is_pipe(fd)) {
		n = pwritev2(fd, &part, 1, -1, RWF_NOWAIT);
		if (n >= 0 || errno == EAGAIN)
			return n;
	}
	return write(fd, line, len);
}

/*
 * False when another thread's write hangs nevertheless. It polls every millisecond because the
 * thread sanitizer of gcc 12 does not know pthread_mutex_clocklock().
 */
static bool lock_soon(void)
{
	for (int tries = 0; tries <= LOCK_PATIENCE_MS; tries++) {
		if (pthread_mutex_trylock(&write_lock) == 0)
			return true;
		(void)poll(NULL, 0, 1);
	}
	return false;
}

/* False when the line was lost. */
static bool write_line(const char *line, size_t len)
{
	ssize_t n;

	if (!lock_soon())
		return false;
	n = write_at_once(STDERR_FILENO, line, len);
	(void)pthread_mutex_unlock(&write_lock);
	return n == (ssize_t)len;
}

static bool emit_line(enum log_level level, int err, const char *msg)
{
	char line[LOG_LINE_MAX];
	int64_t now_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
	int len =
		log_format_line(line, sizeof(line),
				(enum log_format)__atomic_load_n(&global_format, __ATOMIC_RELAXED),
				level, now_ms, err, msg);

	if (write_line(line, (size_t)len))
		return true;
	__atomic_add_fetch(&lost_lines, 1, __ATOMIC_RELAXED);
	return false;
}

/* The number of lost lines is logged once a line can be written again. */
static void emit(enum log_level level, int err, const char *msg)
{
	uint64_t lost = __atomic_load_n(&lost_lines, __ATOMIC_RELAXED);
	uint64_t said = __atomic_load_n(&said_lines, __ATOMIC_RELAXED);
	char text[96];

	if (!emit_line(level, err, msg) || lost == said)
		return;
	(void)snprintf(text, sizeof(text),
		       "%llu lines before the last were lost: standard error was not read",
		       (unsigned long long)(lost - said));
	if (emit_line(LOG_LEVEL_WARN, 0, text))
		__atomic_store_n(&said_lines, lost, __ATOMIC_RELAXED);
}

uint64_t log_lost_lines(void)
{
	return __atomic_load_n(&lost_lines, __ATOMIC_RELAXED);
}

static void log_va(enum log_level level, int err, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void log_va(enum log_level level, int err, const char *fmt, va_list ap)
{
	char msg[LOG_LINE_MAX];
	uint64_t held;
	int saved_errno = errno;

	if (level < log_get_level())
		return;
	if (log_rate_pass(&rates[level], clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC, &held)) {
		(void)vsnprintf(msg, sizeof(msg), fmt, ap);
		emit(level, err, msg);
	}
	if (held) {
		(void)snprintf(msg, sizeof(msg), "%llu more lines of this level were suppressed",
			       (unsigned long long)held);
		emit(level, 0, msg);
	}
	errno = saved_errno;
}

void log_line(enum log_level level, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(level, err, fmt, ap);
	va_end(ap);
}

int log_error_errno(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(LOG_LEVEL_ERROR, err, fmt, ap);
	va_end(ap);
	return err;
}

int log_warn_errno(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(LOG_LEVEL_WARN, err, fmt, ap);
	va_end(ap);
	return err;
}
