// SPDX-License-Identifier: Apache-2.0
#include "workload/owner_key.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define FNV_START 2166136261U
#define HASH_LEN  9 /* "~" and eight digits */

/* FNV-1a, 32 bits: to tell cut names apart, nothing more. */
static uint32_t hash_part(uint32_t hash, struct part part)
{
	for (size_t i = 0; i < part.len; i++)
		hash = (hash ^ (unsigned char)part.text[i]) * 16777619U;
	return hash;
}

static size_t append(char *buf, size_t used, struct part part)
{
	if (part.len)
		memcpy(buf + used, part.text, part.len);
	return used + part.len;
}

void owner_key(char *buf, size_t size, struct part prefix, struct part name, const char *suffix)
{
	struct part last = { suffix, strlen(suffix) };
	size_t room = size - 1 - last.len, used = 0;

	if (prefix.len + name.len <= room) {
		used = append(buf, append(buf, 0, prefix), name);
	} else {
		uint32_t hash = hash_part(hash_part(FNV_START, name), prefix);

		if (prefix.len + HASH_LEN < room)
			used = append(buf, 0, prefix);
		if (name.len > room - used - HASH_LEN)
			name.len = room - used - HASH_LEN;
		used = append(buf, used, name);
		(void)snprintf(buf + used, HASH_LEN + 1, "~%08x", hash);
		used += HASH_LEN;
	}
	buf[append(buf, used, last)] = '\0';
}
