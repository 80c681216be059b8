/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON in the order of the calls, with numbers that read back equal. Objects and arrays can
 * be nested; the caller closes what it has opened. Errors are kept in @out. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Each member except the first one begins with a comma. */
struct json_writer {
	struct strbuf *out;
	bool first;
};

/* "{" or "[", and its counterpart. */
void json_open(struct json_writer *writer, char bracket);
void json_close(struct json_writer *writer, char bracket);
/* The key of a member; its value is written next. */
void json_key(struct json_writer *writer, const char *key);

/* Members that are left out if they are empty, not finite, or 0. */
void json_write_text(struct json_writer *writer, const char *key, const char *text);
void json_write_number(struct json_writer *writer, const char *key, double value);
void json_write_count(struct json_writer *writer, const char *key, uint64_t value);

void json_write_flag(struct json_writer *writer, const char *key, bool value);
void json_write_numbers(struct json_writer *writer, const char *key, const double *numbers,
			size_t count);
