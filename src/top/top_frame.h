/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a frame of `kepler top` as text with the escape sequences of a VT100. Pure.
 *
 * A line is never wider than the terminal, and a frame has no more lines than it. On a narrow one
 * the columns that matter least are left out: command, power and CPU stay. Names are untrusted:
 * every byte that a terminal could take for a sequence is shown as "?".
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "top/top_state.h"

struct top_style {
	bool colour;        /* and bold, and reverse */
	bool utf8;          /* else ASCII only */
	bool is_screen;     /* with graphs and keys; false: for --once, in a pipe */
	const char *notice; /* shown instead of the keys; NULL: none */
	const char *clock;  /* "14:03:22" */
};

/* Appends a frame. 0 or -ENOMEM. */
int top_frame_draw(const struct top_state *state, const struct top_style *style,
		   struct strbuf *out);
