// SPDX-License-Identifier: Apache-2.0
#include "top/top_keys.h"

#include <string.h>

#include "base/macro.h"
#include "base/text/ascii.h"

#define ESCAPE '\033'

/* The sequences after "ESC [" or "ESC O". */
static const struct {
	const char *sequence;
	enum top_key key;
} sequences[] = {
	{ "A", KEY_UP },   { "B", KEY_DOWN },     { "C", KEY_RIGHT },      { "D", KEY_LEFT },
	{ "H", KEY_HOME }, { "F", KEY_END },      { "P", KEY_HELP },       { "1~", KEY_HOME },
	{ "4~", KEY_END }, { "5~", KEY_PAGE_UP }, { "6~", KEY_PAGE_DOWN }, { "7~", KEY_HOME },
	{ "8~", KEY_END }, { "11~", KEY_HELP },   { "Z", KEY_TAB },
};

static bool plain_key(char byte, struct top_event *ret)
{
	*ret = (struct top_event){ .key = KEY_NONE };
	switch (byte) {
	case '\r':
	case '\n':
		ret->key = KEY_ENTER;
		break;
	case '\t':
		ret->key = KEY_TAB;
		break;
	case 0x7f:
	case '\b':
		ret->key = KEY_BACKSPACE;
		break;
	case 0x03:
		ret->key = KEY_INTERRUPT;
		break;
	case 0x0c:
		ret->key = KEY_REDRAW;
		break;
	default:
		if (byte >= ' ' && byte < 0x7f) {
			ret->key = KEY_CHARACTER;
			ret->character = byte;
		}
	}
	return ret->key != KEY_NONE;
}

/* Reads the number after the "<" or ";" at *text and moves *text past it. */
static bool read_number(const char **text, unsigned *ret)
{
	const char *digit = *text + 1;
	unsigned number = 0;

	if (**text != '<' && **text != ';')
		return false;
	for (; ascii_is_digit(*digit) && number < 100000; digit++)
		number = number * 10 + (unsigned)(*digit - '0');
	*ret = number;
	*text = digit;
	return true;
}

/* "<BUTTON;COLUMN;ROW" and "M" (pressed) or "m" (released). */
static bool mouse_key(const char *text, char end, struct top_event *ret)
{
	unsigned button, column, row;

	*ret = (struct top_event){ .key = KEY_NONE };
	if (end != 'M' || !read_number(&text, &button) || !read_number(&text, &column) ||
	    !read_number(&text, &row))
		return false;
	ret->row = row;
	ret->column = column;
	if (button == 0)
		ret->key = KEY_CLICK;
	else if (button == 64)
		ret->key = KEY_WHEEL_UP;
	else if (button == 65)
		ret->key = KEY_WHEEL_DOWN;
	return ret->key != KEY_NONE;
}

static bool sequence_key(const struct top_keys *keys, struct top_event *ret)
{
	const char *text = keys->bytes + 2;

	if (text[0] == '<')
		return mouse_key(text, keys->bytes[keys->len - 1], ret);
	*ret = (struct top_event){ .key = KEY_NONE };
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		if (strcmp(text, sequences[i].sequence) == 0)
			ret->key = sequences[i].key;
	}
	return ret->key != KEY_NONE;
}

/* A sequence ends with a letter or "~" (ECMA-48, 5.4: 0x40 to 0x7e). */
static bool is_final(char byte)
{
	return byte >= 0x40 && byte <= 0x7e;
}

bool top_keys_add(struct top_keys *keys, char byte, struct top_event *ret)
{
	bool is_key;

	*ret = (struct top_event){ .key = KEY_NONE };
	if (keys->len == 0 && byte != ESCAPE)
		return plain_key(byte, ret);
	if (keys->len == 1 && byte != '[' && byte != 'O') {
		keys->len = 0; /* Alt with a key is that key */
		return plain_key(byte, ret);
	}
	keys->bytes[keys->len++] = byte;
	keys->bytes[keys->len] = '\0';
	if (keys->len <= 2)
		return false;
	if (!is_final(byte) && keys->len + 1 < KEYS_SEQUENCE_MAX)
		return false;
	is_key = is_final(byte) && sequence_key(keys, ret);
	keys->len = 0;
	return is_key;
}

bool top_keys_flush(struct top_keys *keys, struct top_event *ret)
{
	bool is_escape = keys->len == 1;

	keys->len = 0;
	*ret = (struct top_event){ .key = is_escape ? KEY_ESCAPE : KEY_NONE };
	return is_escape;
}
