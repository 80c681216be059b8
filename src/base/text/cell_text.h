/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted text in the cells of a terminal. A process can choose its name, and an escape sequence
 * in it could change the terminal: only printable characters are passed on.
 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Appends the text, cut to @width columns with an ellipsis in the last one; bytes that are not
 * printable become "?". The columns that it takes.
 */
size_t cell_text_add(struct strbuf *out, const char *text, size_t width);
/* The same, padded with blanks to @width. */
void cell_text_pad(struct strbuf *out, const char *text, size_t width);
