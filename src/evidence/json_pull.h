/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as a stream of tokens, in memory of fixed size. More than JSON is read where other programs
 * write more: Infinity, -Infinity and NaN as numbers (Python does). Long strings are cut.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "evidence/text_input.h"

#define JSON_PULL_TEXT_MAX  4096
#define JSON_PULL_DEPTH_MAX 64

enum json_token {
	JSON_END, /* of the text, after one value */
	JSON_OBJECT_BEGIN,
	JSON_OBJECT_END,
	JSON_ARRAY_BEGIN,
	JSON_ARRAY_END,
	JSON_KEY,
	JSON_TEXT,
	JSON_NUMERAL, /* its text; so are Infinity and NaN */
	JSON_WORD,    /* true, false, null */
};

struct json_pull {
	struct text_input *input;      /* borrowed */
	char text[JSON_PULL_TEXT_MAX]; /* of the last token that has one */
	size_t depth;
	bool is_object[JSON_PULL_DEPTH_MAX];
	bool has_value;   /* something precedes at this depth */
	bool wants_value; /* behind a key or a comma */
	bool has_key;
};

void json_pull_begin(struct json_pull *json, struct text_input *input);
/* An enum json_token, or -errno with "FILE:LINE:COLUMN: …". */
int json_pull_next(struct json_pull *json, struct diag *diag);
/* Copies the text of the last token, cut where it is longer. */
void json_pull_copy(const struct json_pull *json, char *ret, size_t size);
