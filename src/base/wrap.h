/* SPDX-License-Identifier: Apache-2.0 */
/* Text of people in lines of a width: help, and reports on a terminal. */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Appends the words of @text, which one blank or line end parts, to a line of @out on which @column
 * columns are used. A word that would pass @width begins a line with @indent blanks; one that is
 * wider than a line has its own. @width 0: nothing is wrapped. A character takes one column, as in
 * all of our text. No line end is added at the end.
 */
void wrap_text(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width);
