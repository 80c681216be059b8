/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as untrusted bytes: names of processes, cgroups and devices may hold anything. */
#pragma once

#include <stddef.h>

/*
 * Length (1..4) of the valid character at @s (RFC 3629: no surrogates, no overlong forms), 0 when
 * @s starts with an invalid one.
 */
size_t utf8_char_len(const char *s, size_t len);
