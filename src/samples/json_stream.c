// SPDX-License-Identifier: Apache-2.0
#include "samples/json_stream.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"

enum {
	WANT_VALUE,
	WANT_FIRST, /* a value, or the end of an empty array */
	WANT_FIRST_KEY,
	WANT_KEY,
	WANT_COLON,
	WANT_MORE, /* a comma or the end */
	IN_STRING,
	IN_NUMBER,
	IN_WORD,
	AT_END,
};

/* Values of escape above the count of digits. */
#define ESCAPE_BEGUN 16

void json_stream_init(struct json_stream *stream, json_token_fn *token, void *userdata)
{
	*stream = (struct json_stream){ .token = token, .userdata = userdata };
}

void json_stream_release(struct json_stream *stream)
{
	strbuf_release(&stream->text);
}

static int wrong(const struct json_stream *stream, struct diag *diag, const char *what)
{
	return diag_set(diag, -EPROTO, "byte %llu: %s", (unsigned long long)stream->bytes + 1,
			what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool in_object(const struct json_stream *stream)
{
	return stream->objects >> (stream->depth - 1) & 1;
}

static int emit(struct json_stream *stream, enum json_token token)
{
	int r = strbuf_error(&stream->text);

	if (r == 0)
		r = stream->token(stream->userdata, token,
				  stream->text.data ? stream->text.data : "", stream->text.len);
	strbuf_reset(&stream->text);
	return r;
}

static void value_ended(struct json_stream *stream)
{
	stream->state = stream->depth ? WANT_MORE : AT_END;
}

static int open_bracket(struct json_stream *stream, bool object, struct diag *diag)
{
	if (stream->depth == JSON_STREAM_DEPTH_MAX)
		return diag_set(diag, -EMSGSIZE, "byte %llu: nested deeper than %d",
				(unsigned long long)stream->bytes + 1, JSON_STREAM_DEPTH_MAX);
	stream->objects &= ~(UINT64_C(1) << stream->depth);
	stream->objects |= (uint64_t)object << stream->depth++;
	stream->state = object ? WANT_FIRST_KEY : WANT_FIRST;
	return emit(stream, object ? JSON_TOKEN_OBJECT : JSON_TOKEN_ARRAY);
}

static int close_bracket(struct json_stream *stream, bool object, struct diag *diag)
{
	if (in_object(stream) != object)
		return wrong(stream, diag, "the bracket closes another kind");
	stream->depth--;
	value_ended(stream);
	return emit(stream, object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END);
}

static void begin_string(struct json_stream *stream, bool key)
{
	stream->state = IN_STRING;
	stream->ends_key = key;
	stream->escape = 0;
	stream->high = 0;
}

static int begin_value(struct json_stream *stream, char c, struct diag *diag)
{
	if (c == '{' || c == '[')
		return open_bracket(stream, c == '{', diag);
	if (c == ']' && stream->state == WANT_FIRST)
		return close_bracket(stream, false, diag);
	if (c == '"') {
		begin_string(stream, false);
		return 0;
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		stream->state = IN_NUMBER;
	else if (c >= 'a' && c <= 'z')
		stream->state = IN_WORD;
	else
		return wrong(stream, diag, "no JSON value begins so");
	strbuf_add_char(&stream->text, c);
	return 0;
}

static void add_code(struct json_stream *stream, uint32_t code)
{
	char out[4];
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len; i-- > 1; code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(first[len] | code);
	strbuf_add(&stream->text, out, len);
}

/* Ends what an unpaired first half of a surrogate has begun. */
static void end_pair(struct json_stream *stream)
{
	if (stream->high)
		add_code(stream, 0xfffd);
	stream->high = 0;
}

static void take_code(struct json_stream *stream, uint32_t code)
{
	if (stream->high && code >= 0xdc00 && code < 0xe000) {
		add_code(stream, 0x10000 + ((stream->high - 0xd800) << 10) + (code - 0xdc00));
		stream->high = 0;
		return;
	}
	end_pair(stream);
	if (code >= 0xd800 && code < 0xdc00)
		stream->high = code;
	else
		/* A NUL would end the text before its end. */
		add_code(stream, code == 0 || (code >= 0xdc00 && code < 0xe000) ? 0xfffd : code);
}

static int take_digit(struct json_stream *stream, char c, struct diag *diag)
{
	uint32_t digit;

	if (c >= '0' && c <= '9')
		digit = (uint32_t)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		digit = (uint32_t)((c | 0x20) - 'a' + 10);
	else
		return wrong(stream, diag, "\\u needs four hexadecimal digits");
	stream->code = stream->code << 4 | digit;
	if (--stream->escape == 0)
		take_code(stream, stream->code);
	return 0;
}

static int take_escape(struct json_stream *stream, char c, struct diag *diag)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = c ? strchr(from, c) : NULL;

	if (stream->escape != ESCAPE_BEGUN)
		return take_digit(stream, c, diag);
	stream->escape = 0;
	stream->code = 0;
	if (c == 'u') {
		stream->escape = 4;
		return 0;
	}
	if (!at)
		return wrong(stream, diag, "no such escape in a string");
	end_pair(stream);
	strbuf_add_char(&stream->text, to[at - from]);
	return 0;
}

static int take_string(struct json_stream *stream, char c, struct diag *diag)
{
	int r;

	if (stream->text.len > JSON_STREAM_TEXT_MAX)
		return diag_set(diag, -EMSGSIZE, "byte %llu: a string above %d bytes",
				(unsigned long long)stream->bytes + 1, JSON_STREAM_TEXT_MAX);
	if (stream->escape)
		return take_escape(stream, c, diag);
	if (c == '\\') {
		stream->escape = ESCAPE_BEGUN;
		return 0;
	}
	end_pair(stream);
	if ((unsigned char)c < 0x20)
		return wrong(stream, diag, "a control character in a string");
	if (c != '"') {
		strbuf_add_char(&stream->text, c);
		return 0;
	}
	r = emit(stream, stream->ends_key ? JSON_TOKEN_KEY : JSON_TOKEN_STRING);
	if (stream->ends_key)
		stream->state = WANT_COLON;
	else
		value_ended(stream);
	return r;
}

/* The grammar of RFC 8259, section 6. */
static bool is_number(const char *text)
{
	text += *text == '-';
	if (*text == '0')
		text++;
	else if (*text >= '1' && *text <= '9')
		text += strspn(text, "0123456789");
	else
		return false;
	if (*text == '.') {
		if (!strspn(++text, "0123456789"))
			return false;
		text += strspn(text, "0123456789");
	}
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '-' || *text == '+';
		if (!strspn(text, "0123456789"))
			return false;
		text += strspn(text, "0123456789");
	}
	return !*text;
}

static int end_bare(struct json_stream *stream, struct diag *diag)
{
	bool number = stream->state == IN_NUMBER;
	const char *text = stream->text.data ? stream->text.data : "";

	if (number ? !is_number(text)
		   : strcmp(text, "true") != 0 && strcmp(text, "false") != 0 &&
			     strcmp(text, "null") != 0)
		return wrong(stream, diag, number ? "not a number" : "no word of JSON");
	value_ended(stream);
	return emit(stream, number ? JSON_TOKEN_NUMBER : JSON_TOKEN_WORD);
}

static bool goes_on(const struct json_stream *stream, char c)
{
	if (stream->state == IN_WORD)
		return c >= 'a' && c <= 'z' && stream->text.len < 8;
	return ((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' ||
		c == '-') &&
	       stream->text.len < 64;
}

/* Between tokens. */
static int take_between(struct json_stream *stream, char c, struct diag *diag)
{
	bool first = stream->state == WANT_FIRST_KEY;

	if (is_blank(c))
		return 0;
	if (stream->state == WANT_VALUE || stream->state == WANT_FIRST)
		return begin_value(stream, c, diag);
	if (stream->state == WANT_COLON && c == ':') {
		stream->state = WANT_VALUE;
		return 0;
	}
	if ((first || stream->state == WANT_KEY) && c == '"') {
		begin_string(stream, true);
		return 0;
	}
	if (first && c == '}')
		return close_bracket(stream, true, diag);
	if (stream->state == WANT_MORE && (c == '}' || c == ']'))
		return close_bracket(stream, c == '}', diag);
	if (stream->state == WANT_MORE && c == ',') {
		stream->state = in_object(stream) ? WANT_KEY : WANT_VALUE;
		return 0;
	}
	return wrong(stream, diag, stream->state == AT_END ? "more after the end" : "unexpected");
}

static int take(struct json_stream *stream, char c, struct diag *diag)
{
	if (stream->state == IN_STRING)
		return take_string(stream, c, diag);
	if (stream->state == IN_NUMBER || stream->state == IN_WORD) {
		int r;

		if (goes_on(stream, c)) {
			strbuf_add_char(&stream->text, c);
			return 0;
		}
		r = end_bare(stream, diag);
		if (r)
			return r;
	}
	return take_between(stream, c, diag);
}

/* Takes bytes that are plain text of a string or a number at once; how many. */
static size_t take_run(struct json_stream *stream, const char *bytes, size_t len)
{
	size_t run = 0;

	if (stream->state == IN_STRING && !stream->escape && !stream->high) {
		while (run < len && (unsigned char)bytes[run] >= 0x20 && bytes[run] != '"' &&
		       bytes[run] != '\\')
			run++;
	} else if (stream->state == IN_NUMBER) {
		while (run < len && bytes[run] >= '0' && bytes[run] <= '9')
			run++;
	}
	/* What is too long is refused byte by byte. */
	if (stream->text.len + run > (stream->state == IN_STRING ? JSON_STREAM_TEXT_MAX : 64))
		return 0;
	strbuf_add(&stream->text, bytes, run);
	stream->bytes += run;
	return run;
}

int json_stream_feed(struct json_stream *stream, const char *bytes, size_t len, struct diag *diag)
{
	for (size_t i = 0; i < len; i++) {
		int r;

		i += take_run(stream, bytes + i, len - i);
		if (i == len)
			break;
		r = take(stream, bytes[i], diag);
		if (r)
			return r;
		stream->bytes++;
	}
	return 0;
}

int json_stream_end(struct json_stream *stream, struct diag *diag)
{
	int r = 0;

	if (stream->depth == 0 && (stream->state == IN_NUMBER || stream->state == IN_WORD))
		r = end_bare(stream, diag);
	if (r == 0 && stream->state != AT_END)
		return wrong(stream, diag, "the text ends before its value does");
	return r;
}
