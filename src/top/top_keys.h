/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from a terminal → keys: characters, arrows, pages, function keys, and the mouse in SGR
 * form (xterm's 1006). Sequences may come in parts. Pure; any bytes may come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_key {
	KEY_NONE,      /* the bytes so far make none */
	KEY_CHARACTER, /* a printable ASCII character */
	KEY_ENTER,
	KEY_ESCAPE,
	KEY_BACKSPACE,
	KEY_TAB,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_HELP,  /* F1 */
	KEY_CLICK, /* the left button */
	KEY_WHEEL_UP,
	KEY_WHEEL_DOWN,
	KEY_INTERRUPT, /* Ctrl-C, which raises no signal while the terminal is raw */
	KEY_REDRAW,    /* Ctrl-L */
};

struct top_event {
	enum top_key key;
	char character;       /* of KEY_CHARACTER */
	unsigned row, column; /* of KEY_CLICK, from 1 on */
};

#define KEYS_SEQUENCE_MAX 32

struct top_keys {
	char bytes[KEYS_SEQUENCE_MAX]; /* a sequence that has begun */
	size_t len;
};

/* Takes one byte. True: *ret is a key. */
bool top_keys_add(struct top_keys *keys, char byte, struct top_event *ret);
/* No further byte came for a while: an escape on its own is the key. True: *ret is a key. */
bool top_keys_flush(struct top_keys *keys, struct top_event *ret);
