/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted bytes as a label value. Any user that can start a process chooses its name; nothing in
 * it may end the label, the line or the encoding, and no name may grow without bound.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Bytes of a value before escaping: OWNER_NAME_MAX bytes that each become three. */
#define LABEL_VALUE_MAX 384

/*
 * Appends @raw as the inside of a quoted label value: control bytes and invalid UTF-8 become
 * U+FFFD, the rest is cut between characters at LABEL_VALUE_MAX bytes, then quote, backslash
 * and newline are escaped.
 */
void label_escape(struct strbuf *out, const char *raw, size_t len);

/*
 * The same for a name that must stay distinct: when cleaning would lose anything, or the name
 * already contains the replacement, "~" and a hash of the raw bytes follow.
 */
void label_escape_unique(struct strbuf *out, const char *raw, size_t len);

/* A 64-bit hash of bytes (FNV-1a), to distinguish names; it is not cryptographic. */
uint64_t label_hash(const char *bytes, size_t len);
