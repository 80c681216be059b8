// SPDX-License-Identifier: Apache-2.0
/* The pieces of any bytes are the same in parts of any size, and as a plain count has them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The role of each byte, and its depth. */
struct byte {
	enum json_piece piece;
	size_t depth;
};

static void scan(const char *text, size_t size, size_t step, struct byte *bytes)
{
	struct json_scan scan = { .depth = 0 };

	for (size_t at = 0, part = 0; at < size; part = at) {
		size_t end = size - part < step ? size : part + step;

		while (at < end) {
			struct byte byte;
			size_t len = json_scan_next(&scan, text + at, end - at, &byte.piece);

			byte.depth = scan.depth;
			if (len == 0 || len > end - at)
				abort();
			for (; len; len--)
				bytes[at++] = byte;
		}
	}
}

/* The largest depth, by a plain count: a backslash in a string hides the byte after it. */
static size_t count(const char *text, size_t size, const struct byte *bytes)
{
	size_t depth = 0, deepest = 0;
	bool in_string = false;

	for (size_t i = 0; i < size; i++) {
		bool was_in_string = in_string, closed = false;

		if (in_string && text[i] == '\\') {
			if (bytes[i++].piece != PIECE_STRING || i == size)
				break;
		} else if (text[i] == '"') {
			in_string = !in_string;
		} else if (!in_string && (text[i] == '{' || text[i] == '[')) {
			depth++;
		} else if (!in_string && (text[i] == '}' || text[i] == ']')) {
			closed = depth > 0;
		}
		if ((bytes[i].piece == PIECE_STRING) != (in_string || was_in_string) ||
		    bytes[i].depth != depth)
			abort();
		deepest = depth > deepest ? depth : deepest;
		depth -= closed;
	}
	return deepest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct byte *whole = calloc(size + 1, sizeof(*whole));
	struct byte *parts = calloc(size + 1, sizeof(*parts));

	if (!whole || !parts)
		abort();
	scan(text, size, size + 1, whole);
	scan(text, size, size ? (size_t)data[0] % 7 + 1 : 1, parts);
	for (size_t i = 0; i < size; i++) {
		if (whole[i].piece != parts[i].piece || whole[i].depth != parts[i].depth)
			abort();
	}
	if (json_is_too_deep(text, size) != (count(text, size, whole) > JSON_DEPTH_MAX))
		abort();
	free(whole);
	free(parts);
	return 0;
}
