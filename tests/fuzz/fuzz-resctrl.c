// SPDX-License-Identifier: Apache-2.0
/* Files of resctrl: a counter, and a list of tasks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "activity/resctrl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint32_t pids[64];
	uint64_t bytes;
	size_t count;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	(void)resctrl_parse_bytes(text, size, &bytes);
	count = resctrl_parse_tasks(text, pids, 64);
	if (count > 64)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!pids[i])
			abort();
	}
	free(text);
	return 0;
}
