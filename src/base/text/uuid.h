/* SPDX-License-Identifier: Apache-2.0 */
/* A UUID (RFC 9562) as a value: of a virtual machine, whose name may come from several sources. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_TEXT_LEN 36

struct uuid {
	uint64_t high, low; /* both 0: none */
};

/*
 * Reads "8-4-4-4-12" hexadecimal digits of either case that fill @text[0..len). False: it is not a
 * UUID, or has only zeros.
 */
bool uuid_parse(const char *text, size_t len, struct uuid *ret);

static inline bool uuid_is_set(const struct uuid *uuid)
{
	return uuid->high || uuid->low;
}

static inline bool uuid_is_same(const struct uuid *one, const struct uuid *other)
{
	return one->high == other->high && one->low == other->low;
}
