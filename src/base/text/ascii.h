/* SPDX-License-Identifier: Apache-2.0 */
/* Character classes that do not depend on the locale. */
#pragma once

#include <stdbool.h>

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The value of a hexadecimal digit, or -1. */
static inline int ascii_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline char ascii_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
