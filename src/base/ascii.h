/* SPDX-License-Identifier: Apache-2.0 */
/* Characters whatever the locale says. */
#pragma once

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}
