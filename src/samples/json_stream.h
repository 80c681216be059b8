/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (RFC 8259) in parts of any size, as a stream of tokens: an answer of 100 MB needs no more
 * memory than its longest string. The text is one value; it is checked as it comes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define JSON_STREAM_DEPTH_MAX 32
#define JSON_STREAM_TEXT_MAX  65536 /* of one string, in bytes of its text */

enum json_token {
	JSON_TOKEN_OBJECT,
	JSON_TOKEN_OBJECT_END,
	JSON_TOKEN_ARRAY,
	JSON_TOKEN_ARRAY_END,
	JSON_TOKEN_KEY,    /* decoded, as strings are */
	JSON_TOKEN_STRING, /* UTF-8; U+FFFD for half a surrogate */
	JSON_TOKEN_NUMBER, /* as it is written */
	JSON_TOKEN_WORD,   /* true, false or null */
};

/*
 * @text is terminated, and empty for brackets. A result other than 0 ends the feeding with it; the
 * callee fills a diag of its own.
 */
typedef int json_token_fn(void *userdata, enum json_token token, const char *text, size_t len);

struct json_stream {
	json_token_fn *token;
	void *userdata;
	/* ---- its own ---- */
	struct strbuf text; /* of the token that is being read */
	uint64_t bytes;     /* read so far */
	uint64_t objects;   /* bit i: the bracket at depth i + 1 is an object's */
	unsigned depth;
	int state;
	int escape;    /* digits of \u that are still to come, or a state of their own */
	uint32_t code; /* of \u */
	uint32_t high; /* the first half of a pair, 0 none */
	bool ends_key; /* the string is a key */
};

/* All zero but @token and @userdata is the beginning. */
void json_stream_init(struct json_stream *stream, json_token_fn *token, void *userdata);
void json_stream_release(struct json_stream *stream);
/*
 * 0; -EPROTO with the byte and what is wrong, -EMSGSIZE for a string or a depth beyond the limits,
 * -ENOMEM; or the result of the callee. Nothing more is fed after a failure.
 */
int json_stream_feed(struct json_stream *stream, const char *bytes, size_t len, struct diag *diag);
/* 0 when the value is whole; else -EPROTO. */
int json_stream_end(struct json_stream *stream, struct diag *diag);
