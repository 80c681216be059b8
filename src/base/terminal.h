/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of the terminal that a stream may be. */
#pragma once

#include <stdbool.h>

/*
 * True if colours are wanted there: @fd is a terminal, $NO_COLOR is unset or empty
 * (https://no-color.org), and $TERM is not "dumb".
 */
bool terminal_wants_colour(int fd);
/* Rows and columns; 0 without a terminal, or if it does not report them. */
void terminal_size(int fd, unsigned *ret_rows, unsigned *ret_columns);
