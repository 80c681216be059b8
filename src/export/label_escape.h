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

/* A label as sinks get it: nothing in its value is cleaned or escaped yet. */
struct label_pair {
	const char *name;
	const char *value;
	bool is_id; /* distinct values stay distinct: label_clean_unique() */
};

struct labels {
	const struct label_pair *labels;
	size_t count;
};

/*
 * Appends @raw cleaned: control bytes and invalid UTF-8 become U+FFFD, and the rest is cut between
 * characters at LABEL_VALUE_MAX bytes. @escape: as the inside of a quoted value, so that quotes,
 * backslashes and newlines follow a backslash.
 */
void label_clean(struct strbuf *out, const char *raw, size_t len, bool escape);
/*
 * The same for a name that must stay distinct: when cleaning would lose anything, or the name
 * already contains the replacement, "~" and a hash of the raw bytes follow.
 */
void label_clean_unique(struct strbuf *out, const char *raw, size_t len, bool escape);
/* The value of @label, by one of both. */
void label_clean_value(struct strbuf *out, const struct label_pair *label, bool escape);

/* A 64-bit hash of bytes (FNV-1a), to distinguish names; it is not cryptographic. */
uint64_t label_hash(const char *bytes, size_t len);
