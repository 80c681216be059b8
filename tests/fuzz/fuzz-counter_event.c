// SPDX-License-Identifier: Apache-2.0
/* Name of an event, and a description of a term's bits, after a newline. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "activity/counter_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *format;
	struct counter_event event;
	struct diag diag = { 0 };
	uint64_t config = 0;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	format = strchr(text, '\n');
	if (format)
		*format++ = '\0';
	if (counter_event_check(text, &diag) < 0 &&
	    counter_event_find("/nonexistent", text, COUNTER_CYCLES, &event) != -EINVAL)
		abort(); /* an option refuses invalid events */
	if (format)
		(void)counter_event_place_bits(format, UINT64_MAX, &config);
	free(text);
	return 0;
}
