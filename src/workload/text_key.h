/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as keys of a map: 128 bits of hash. A look-up compares the text as well. */
#pragma once

#include "base/map.h"

/* FNV-1a with two starts and two primes. */
static inline struct map_key text_key(const char *text)
{
	struct map_key key = { 0xcbf29ce484222325ULL, 0x84222325cbf29ce4ULL };

	for (; *text; text++) {
		key.hi = (key.hi ^ (unsigned char)*text) * 0x100000001b3ULL;
		key.lo = (key.lo ^ (unsigned char)*text) * 0x10000000233ULL;
	}
	return key;
}
