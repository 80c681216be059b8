/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structured log lines on stderr: logfmt ("text") or JSON, four levels, limited in rate.
 *
 * Program code logs; library code returns errors and never logs above debug. The level and format
 * are the tree's only globals. One line is one write(2), so lines of several threads never mix. At
 * most LOG_BURST lines of a level pass in a second; the others are suppressed and their number is
 * logged once. Logging never waits: a line that does not fit into a pipe, socket or terminal is
 * lost and counted, and the count is logged once a line fits again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

#define LOG_LINE_MAX 1024
#define LOG_BURST    50 /* lines a second and level */

/* The least severe level that is logged, and its form. */
struct log_options {
	enum log_level level; /* the least severe */
	enum log_format format;
};

void log_setup(enum log_level level, enum log_format format);
enum log_level log_get_level(void);

/* Lines that were lost so far because they were not read. */
uint64_t log_lost_lines(void);

void log_line(enum log_level level, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_debug(...) log_line(LOG_LEVEL_DEBUG, 0, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, 0, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, 0, __VA_ARGS__)
#define log_error(...) log_line(LOG_LEVEL_ERROR, 0, __VA_ARGS__)

/*
 * Logs with the text of the negative errno @err and returns it, so that a failure branch is one
 * line.
 */
int log_error_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int log_warn_errno(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Formats one line into @buf for tests and for log_line: time, level, message, error text. A
 * message that is too long for @size (at least 256) is cut at a whole character, so that the line
 * stays well-formed. Returns the length without the terminator; the line always ends in a newline.
 */
int log_format_line(char *buf, int size, enum log_format format, enum log_level level,
		    int64_t realtime_ms, int err, const char *msg);

/* One level's rate: LOG_BURST lines pass in each second. All zero at first. */
struct log_rate {
	uint64_t second;
	uint32_t passed;
	uint64_t held;
};

/*
 * True when a line may pass in @second; *ret_held is then the number that was suppressed before it,
 * once. Threads may share it; two at the turn of a second may let one line more pass.
 */
bool log_rate_pass(struct log_rate *rate, uint64_t second, uint64_t *ret_held);
