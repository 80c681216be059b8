// SPDX-License-Identifier: Apache-2.0
#include "workload/owner_key.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"

#define HASH_LEN 9 /* "~" and eight digits */

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
		/* to tell cut names apart, nothing more */
		uint32_t hash = hash32_bytes(hash32_bytes(HASH32_START, name.text, name.len),
					     prefix.text, prefix.len);

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
