// SPDX-License-Identifier: Apache-2.0
/*
 * Cleaning decides on characters, escaping on bytes, in one pass. A newline is legal in a label
 * value (escaped); other control bytes are legal, too, but are more likely to confuse a terminal
 * than to be useful.
 */
#include "export/label_escape.h"

#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/text/utf8.h"

#define REPLACEMENT     "\xef\xbf\xbd" /* U+FFFD */
#define REPLACEMENT_LEN 3
#define HASH_SUFFIX_LEN 17 /* "~" and 16 digits */

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\n') || c == 0x7f;
}

/* The cleaned character at @raw: its bytes, their number, and how many bytes it took. */
static size_t clean_char(const char *raw, size_t len, const char **ret_bytes, size_t *ret_taken)
{
	size_t n = utf8_char_len(raw, len);

	if (n == 0 || is_control((unsigned char)*raw)) {
		*ret_bytes = REPLACEMENT;
		*ret_taken = 1;
		return REPLACEMENT_LEN;
	}
	*ret_bytes = raw;
	*ret_taken = n;
	return n;
}

static void append(struct strbuf *out, const char *bytes, size_t n, bool escape)
{
	if (escape && *bytes == '\n') {
		strbuf_add(out, "\\n", 2);
		return;
	}
	if (escape && (*bytes == '"' || *bytes == '\\'))
		strbuf_add_char(out, '\\');
	strbuf_add(out, bytes, n);
}

/* How many bytes from @raw on need no change: of most names all. */
static size_t plain_run(const char *raw, size_t len)
{
	size_t n = 0;

	while (n < len && raw[n] >= 0x20 && raw[n] < 0x7f && raw[n] != '"' && raw[n] != '\\')
		n++;
	return n;
}

static void clean_up_to(struct strbuf *out, const char *raw, size_t len, size_t max, bool escape)
{
	size_t written = plain_run(raw, len < max ? len : max);

	strbuf_add(out, raw, written);
	for (size_t i = written; i < len;) {
		const char *bytes;
		size_t taken, n = clean_char(raw + i, len - i, &bytes, &taken);

		if (written + n > max)
			return;
		append(out, bytes, n, escape);
		written += n;
		i += taken;
	}
}

/* True if cleaning loses something, or the result could be mistaken for a cleaned name. */
static bool is_ambiguous(const char *raw, size_t len)
{
	size_t written = plain_run(raw, len);

	for (size_t i = written; i < len;) {
		const char *bytes;
		size_t taken, n = clean_char(raw + i, len - i, &bytes, &taken);

		if (n == REPLACEMENT_LEN && memcmp(bytes, REPLACEMENT, REPLACEMENT_LEN) == 0)
			return true;
		written += n;
		i += taken;
	}
	return written > LABEL_VALUE_MAX;
}

uint64_t label_hash(const char *bytes, size_t len)
{
	return hash64_bytes(HASH64_START, bytes, len);
}

void label_clean(struct strbuf *out, const char *raw, size_t len, bool escape)
{
	clean_up_to(out, raw, len, LABEL_VALUE_MAX, escape);
}

void label_clean_unique(struct strbuf *out, const char *raw, size_t len, bool escape)
{
	uint64_t hash;

	if (!is_ambiguous(raw, len)) {
		clean_up_to(out, raw, len, LABEL_VALUE_MAX, escape);
		return;
	}
	hash = label_hash(raw, len);
	clean_up_to(out, raw, len, LABEL_VALUE_MAX - HASH_SUFFIX_LEN, escape);
	strbuf_addf(out, "~%016llx", (unsigned long long)hash);
}

void label_clean_value(struct strbuf *out, const struct label_pair *label, bool escape)
{
	if (label->is_id)
		label_clean_unique(out, label->value, strlen(label->value), escape);
	else
		label_clean(out, label->value, strlen(label->value), escape);
}
