// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"

/* The tree's only globals; written at start and on reload, read by every thread. */
static int global_level = LOG_LEVEL_INFO;
static int global_format = LOG_FORMAT_TEXT;

struct rate {
	uint64_t second;
	uint32_t passed;
	uint64_t held;
};
static struct rate rates[LOG_LEVEL_ERROR + 1];

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

/* True when the line may pass; *ret_held is then the number that was held back before it. Two threads may let one line more pass. */
static bool rate_pass(struct rate *rate, uint64_t second, uint64_t *ret_held)
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

int log_format_line(char *buf, int size, enum log_format format, enum log_level level,
		    int64_t realtime_ms, int err, const char *msg)
{
	struct strbuf line = STRBUF_INIT;
	char time_text[80], error_text[128] = "";
	int len;

	format_time(time_text, sizeof(time_text), realtime_ms);
	if (err)
		(void)snprintf(error_text, sizeof(error_text), "%s",
			       strerrordesc_np(-err) ?: "unknown error");
	if (format == LOG_FORMAT_JSON) {
		strbuf_addf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"msg\":\"", time_text,
			    level_names[level]);
		strbuf_add_json(&line, msg);
		if (err) {
			strbuf_add_str(&line, "\",\"error\":\"");
			strbuf_add_json(&line, error_text);
		}
		strbuf_add_str(&line, "\"}");
	} else {
		strbuf_addf(&line, "time=%s level=%s msg=\"", time_text, level_names[level]);
		strbuf_add_json(&line, msg);
		if (err)
			strbuf_addf(&line, "\" error=\"%s", error_text);
		strbuf_add_char(&line, '"');
	}
	len = line.len < (size_t)size - 2 ? (int)line.len : size - 2;
	if (line.data)
		memcpy(buf, line.data, (size_t)len);
	buf[len++] = '\n';
	buf[len] = '\0';
	strbuf_release(&line);
	return len;
}

static void emit(enum log_level level, int err, const char *msg)
{
	char line[LOG_LINE_MAX];
	int64_t now_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
	int len =
		log_format_line(line, sizeof(line),
				(enum log_format)__atomic_load_n(&global_format, __ATOMIC_RELAXED),
				level, now_ms, err, msg);
	ssize_t n = write(STDERR_FILENO, line, (size_t)len);

	(void)n; /* there is nowhere left to complain */
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
	if (rate_pass(&rates[level], clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC, &held)) {
		(void)vsnprintf(msg, sizeof(msg), fmt, ap);
		emit(level, err, msg);
	}
	if (held) {
		(void)snprintf(msg, sizeof(msg), "%llu more lines of this level were held back",
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
