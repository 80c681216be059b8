/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as keys of a map: 128 bits of hash. A look-up compares the text as well. */
#pragma once

#include "base/hash.h"
#include "base/map.h"

/* The second half has another start and another prime. */
static inline struct map_key text_key(const char *text)
{
	struct map_key key = { HASH64_START, 0x84222325cbf29ce4ULL };

	for (; *text; text++) {
		key.hi = hash64_byte(key.hi, (unsigned char)*text);
		key.lo = (key.lo ^ (unsigned char)*text) * 0x10000000233ULL;
	}
	return key;
}
