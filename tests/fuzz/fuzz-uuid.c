// SPDX-License-Identifier: Apache-2.0
/* A virtual machine's UUID, as a driver or a command line has it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/uuid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The UUID that was read is the one that was written, except for case. */
static void check(const struct uuid *uuid, const char *text, size_t len)
{
	char again[UUID_TEXT_LEN + 1];

	(void)snprintf(again, sizeof(again), "%08x-%04x-%04x-%04x-%012llx",
		       (unsigned)(uuid->high >> 32), (unsigned)(uuid->high >> 16) & 0xffff,
		       (unsigned)uuid->high & 0xffff, (unsigned)(uuid->low >> 48),
		       (unsigned long long)uuid->low & 0xffffffffffff);
	if (len != UUID_TEXT_LEN || strncasecmp(text, again, len) != 0 || !uuid_is_set(uuid))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* not terminated */
	struct uuid uuid;

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (uuid_parse(text, size, &uuid))
		check(&uuid, text, size);
	free(text);
	return 0;
}
