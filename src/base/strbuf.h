/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte string for building text.
 *
 * Invariants: data is NULL only while size is 0; data[len] is '\0' once anything was added. Running
 * out of memory sets `failed` and makes every later call a no-op, so that a builder checks once, at
 * the end, with strbuf_error().
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct strbuf {
	char *data;
	size_t len;
	size_t size; /* allocated */
	bool failed;
};

#define STRBUF_INIT ((struct strbuf){ 0 })

void strbuf_release(struct strbuf *sb); /* frees; the strbuf is empty and usable again */
void strbuf_reset(struct strbuf *sb);   /* empties, keeps the memory */
/* Makes room for @extra more bytes; false when memory ran out. */
bool strbuf_reserve(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_add_str(struct strbuf *sb, const char *text);
void strbuf_add_char(struct strbuf *sb, char c);
void strbuf_add_u64(struct strbuf *sb, uint64_t value);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Appends @text as the inside of a JSON string (no quotes): control characters escaped, U+FFFD for
 * invalid UTF-8. So it is also fit for a terminal.
 */
void strbuf_add_json(struct strbuf *sb, const char *text);
/* Appends @text as a cell of CSV (RFC 4180): in quotes unless it is a plain name, or empty. */
void strbuf_add_csv(struct strbuf *sb, const char *text);
/* 0 or -ENOMEM. */
int strbuf_error(const struct strbuf *sb);
