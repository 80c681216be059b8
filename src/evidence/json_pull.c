// SPDX-License-Identifier: Apache-2.0
#include "evidence/json_pull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_pull_begin(struct json_pull *json, struct text_input *input)
{
	json->input = input;
	json->text[0] = '\0';
	json->depth = 0;
	json->has_value = json->wants_value = json->has_key = false;
}

static int skip_blanks(struct json_pull *json)
{
	for (;;) {
		int c = text_input_peek(json->input);
		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			return c;
		(void)text_input_next(json->input);
	}
}

static void add_char(struct json_pull *json, size_t *len, unsigned c)
{
	if (*len + 1 < sizeof(json->text))
		json->text[(*len)++] = (char)c;
}

/* A code unit as UTF-8; a surrogate as "?", since names of series need no more. */
static void add_code(struct json_pull *json, size_t *len, unsigned code)
{
	if (code < 0x20 || (code >= 0xd800 && code < 0xe000)) {
		add_char(json, len, '?');
	} else if (code < 0x80) {
		add_char(json, len, code);
	} else if (code < 0x800) {
		add_char(json, len, 0xc0 | code >> 6);
		add_char(json, len, 0x80 | (code & 0x3f));
	} else {
		add_char(json, len, 0xe0 | code >> 12);
		add_char(json, len, 0x80 | (code >> 6 & 0x3f));
		add_char(json, len, 0x80 | (code & 0x3f));
	}
}

static int read_escape(struct json_pull *json, size_t *len, struct diag *diag)
{
	static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	int c = text_input_next(json->input);
	if (c == 'u') {
		char digits[5] = "";
		for (int i = 0; i < 4; i++) {
			int digit = text_input_next(json->input);
			if (digit == TEXT_INPUT_END || !strchr("0123456789abcdefABCDEF", digit))
				return text_input_fail(json->input, diag, "\\u needs four digits");
			digits[i] = (char)digit;
		}
		add_code(json, len, (unsigned)strtoul(digits, NULL, 16));
		return 0;
	}
	for (size_t i = 0; c > 0 && letters[i]; i += 2) {
		if (letters[i] == c) {
			add_char(json, len, (unsigned char)letters[i + 1]);
			return 0;
		}
	}
	return text_input_fail(json->input, diag, "not an escape of JSON");
}

static int read_text(struct json_pull *json, struct diag *diag)
{
	size_t len = 0;
	(void)text_input_next(json->input);
	for (;;) {
		int c = text_input_next(json->input), r = 0;
		if (c == '"')
			break;
		if (c == TEXT_INPUT_END)
			return text_input_fail(json->input, diag, "the file ends inside a text");
		if (c == '\\')
			r = read_escape(json, &len, diag);
		else
			add_char(json, &len, c < 0x20 ? '?' : (unsigned)c);
		if (r < 0)
			return r;
	}
	json->text[len] = '\0';
	return JSON_TEXT;
}

/* A number, or a word such as true. */
static int read_word(struct json_pull *json, struct diag *diag)
{
	static const char *const words[] = { "true", "false", "null" };
	static const char *const numerals[] = { "Infinity", "-Infinity", "NaN" };
	size_t len = 0;
	for (;;) {
		int c = text_input_peek(json->input);
		bool is_part = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
		if (!is_part)
			break;
		add_char(json, &len, (unsigned)text_input_next(json->input));
	}
	json->text[len] = '\0';
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(json->text, words[i]) == 0)
			return JSON_WORD;
		if (strcmp(json->text, numerals[i]) == 0)
			return JSON_NUMERAL;
	}
	if (len > 0 && strspn(json->text, "0123456789+-.eE") == len)
		return JSON_NUMERAL;
	if (len == 0)
		(void)text_input_next(json->input);
	return text_input_fail(json->input, diag, "a value of JSON is missing here");
}

static int open_bracket(struct json_pull *json, bool is_object, struct diag *diag)
{
	(void)text_input_next(json->input);
	if (json->depth == JSON_PULL_DEPTH_MAX)
		return text_input_fail(json->input, diag, "nested more than %d levels deep",
				       JSON_PULL_DEPTH_MAX);
	json->is_object[json->depth++] = is_object;
	json->has_value = json->wants_value = json->has_key = false;
	return is_object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN;
}

static int close_bracket(struct json_pull *json, int c, struct diag *diag)
{
	(void)text_input_next(json->input);
	bool is_object = json->is_object[json->depth - 1];
	if (is_object != (c == '}') || json->wants_value)
		return text_input_fail(json->input, diag, "\"%c\" is not expected here", c);
	json->depth--;
	json->has_value = true;
	json->has_key = false;
	return is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static int read_key(struct json_pull *json, int c, struct diag *diag)
{
	if (c != '"') {
		(void)text_input_next(json->input);
		return text_input_fail(json->input, diag, "a key in quotes is expected here");
	}
	int r = read_text(json, diag);
	if (r < 0)
		return r;
	if (skip_blanks(json) != ':') {
		(void)text_input_next(json->input);
		return text_input_fail(json->input, diag, "\":\" is expected behind a key");
	}
	(void)text_input_next(json->input);
	json->has_key = json->wants_value = true;
	return JSON_KEY;
}

static int read_value(struct json_pull *json, int c, struct diag *diag)
{
	if (c == '{' || c == '[')
		return open_bracket(json, c == '{', diag);
	json->has_value = true;
	json->wants_value = json->has_key = false;
	return c == '"' ? read_text(json, diag) : read_word(json, diag);
}

int json_pull_next(struct json_pull *json, struct diag *diag)
{
	int c = skip_blanks(json);
	if (json->depth == 0 && json->has_value) {
		if (c == TEXT_INPUT_END && json->input->error == 0)
			return JSON_END;
		(void)text_input_next(json->input);
		return text_input_fail(json->input, diag, "more text behind the value");
	}
	if (c == TEXT_INPUT_END)
		return text_input_fail(json->input, diag, "the file ends before its JSON does");
	if (json->depth == 0 || json->has_key)
		return read_value(json, c, diag);
	if (c == '}' || c == ']')
		return close_bracket(json, c, diag);
	if (json->has_value && !json->wants_value) {
		(void)text_input_next(json->input);
		if (c != ',')
			return text_input_fail(json->input, diag, "\",\" is expected here");
		json->wants_value = true;
		c = skip_blanks(json);
		if (c == '}' || c == ']')
			return close_bracket(json, c, diag);
	}
	return json->is_object[json->depth - 1] ? read_key(json, c, diag)
						: read_value(json, c, diag);
}

void json_pull_copy(const struct json_pull *json, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%.*s", (int)size - 1, json->text);
}
