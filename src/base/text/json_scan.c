// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_scan.h"

static bool is_open(char c)
{
	return c == '{' || c == '[';
}

static bool is_close(char c)
{
	return c == '}' || c == ']';
}

/* Length up to and including the quote that ends the string. */
static size_t string_len(struct json_scan *scan, const char *text, size_t len)
{
	size_t at = !scan->in_string; /* its first quote */
	bool escaped = scan->escaped;

	scan->in_string = true;
	for (; scan->in_string && at < len; at++) {
		scan->in_string = escaped || text[at] != '"';
		escaped = !escaped && text[at] == '\\';
	}
	scan->escaped = escaped;
	return at;
}

size_t json_scan_next(struct json_scan *scan, const char *text, size_t len, enum json_piece *ret)
{
	size_t at = 1;

	scan->depth -= scan->closed;
	scan->closed = false;
	if (scan->in_string || *text == '"') {
		*ret = PIECE_STRING;
		return string_len(scan, text, len);
	}
	if (is_open(*text) || is_close(*text)) {
		*ret = is_open(*text) ? PIECE_OPEN : PIECE_CLOSE;
		scan->depth += is_open(*text);
		scan->closed = is_close(*text) && scan->depth;
		return 1;
	}
	*ret = PIECE_OTHER;
	while (at < len && text[at] != '"' && !is_open(text[at]) && !is_close(text[at]))
		at++;
	return at;
}

bool json_is_too_deep(const char *text, size_t len)
{
	struct json_scan scan = { .depth = 0 };
	enum json_piece piece;

	for (size_t at = 0; at < len && scan.depth <= JSON_DEPTH_MAX;)
		at += json_scan_next(&scan, text + at, len - at, &piece);
	return scan.depth > JSON_DEPTH_MAX;
}
