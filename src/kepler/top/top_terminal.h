/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal while a program has all of it: raw input, the alternate screen, the mouse. It is put
 * back as it was, also when a signal ends the program.
 */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "base/strbuf.h"

struct top_terminal {
	bool is_open;
	struct termios before;
};

/* 0 or -errno: standard input and output are not a terminal. Signals set the flags below. */
int top_terminal_open(struct top_terminal *terminal);
void top_terminal_close(struct top_terminal *terminal); /* also if it was not opened */
/* Writes a frame over the last one. 0, or -errno: the terminal is gone. */
int top_terminal_show(const struct strbuf *frame);
/* Has a signal asked for the end (SIGTERM, SIGHUP, SIGINT)? */
bool top_terminal_ended(void);
/* Has its size changed since the last call? */
bool top_terminal_resized(void);
/* Does the locale of the environment have UTF-8? */
bool top_terminal_has_utf8(void);
