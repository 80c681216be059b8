/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws power as text for a terminal, with the escape sequences of a VT100: the frames of `kepler
 * top`, the live table of `kepler run`, and what `kepler doctor` shows. Pure.
 *
 * A line is never wider than the terminal, and a frame of a screen has as many lines as it. On a
 * narrow one the columns that matter least are left out: command, power and CPU stay. Names are
 * untrusted: every byte that a terminal could take for a sequence is shown as "?".
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "top/top_state.h"

struct top_style {
	bool colour;        /* and bold, and reverse */
	bool utf8;          /* else ASCII only */
	bool is_screen;     /* with graphs and keys; false: text alone */
	const char *notice; /* shown instead of the keys; NULL: none */
	const char *clock;  /* "14:03:22" */
	/* Lines instead of the title with node and clock; ends with NULL. NULL: that title. */
	const char *const *titles;
};

/* Appends a frame. 0 or -ENOMEM. */
int top_frame_draw(const struct top_state *state, const struct top_style *style,
		   struct strbuf *out);
/*
 * Appends the processes of an answer of /api/v1/now, without a screen, for a terminal of so many
 * columns. 0, -EINVAL: it is not one, or -ENOMEM.
 */
int top_frame_of(const struct strbuf *answer, const struct top_style *style, unsigned columns,
		 struct strbuf *out);
