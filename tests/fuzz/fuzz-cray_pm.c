// SPDX-License-Identifier: Apache-2.0
/* Files of /sys/cray/pm_counters. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "meter/cray/cray_pm_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t energy_uj, time_us;

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (cray_pm_energy_parse(text, (ssize_t)size, &energy_uj, &time_us) == 0 &&
	    (text[size - 1] != '\n' || energy_uj % UJ_PER_J || !memchr(text, 'J', size)))
		abort();
	free(text);
	return 0;
}
