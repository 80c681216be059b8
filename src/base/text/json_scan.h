/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings and brackets of JSON, to find a part of a text, or its depth, without parsing it. Nothing
 * is validated: text that is not JSON has pieces as well. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JSON_DEPTH_MAX 64 /* pods and containers' configurations have about 10 */

enum json_piece {
	PIECE_STRING, /* with its quotes, or as much of it as is there */
	PIECE_OPEN,   /* one bracket, { or [ */
	PIECE_CLOSE,  /* one bracket */
	PIECE_OTHER,  /* up to the next of these */
};

/* All zero at the beginning of a text, which may come in parts of any size. */
struct json_scan {
	size_t depth;   /* of the piece: a bracket is as deep as what it encloses */
	bool in_string; /* the piece was a string, and its end is still to come */
	bool escaped, closed;
};

/* Characters that may stand between pieces. */
static inline bool json_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Length of the piece that begins at @text, from 1 to @len, which is at least 1. */
size_t json_scan_next(struct json_scan *scan, const char *text, size_t len, enum json_piece *ret);

/*
 * True if more than JSON_DEPTH_MAX brackets are open anywhere in @text, JSON or not. Untrusted JSON
 * that is deeper is not parsed: a parser recurses (jansson up to 2,048 times), and so does freeing
 * its result; the stack of a thread may be too small for that.
 */
bool json_is_too_deep(const char *text, size_t len);
