// SPDX-License-Identifier: Apache-2.0
/* Files of --meter.external. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "meter/external/external_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* no byte after it may be read */
	struct external_text text;
	struct external_record record;
	struct diag diag;
	int r;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (external_text_begin(&text, copy, size, &diag) == 0) {
		while ((r = external_text_next(&text, &record, &diag)) != 0) {
			if (r > 0 && (zone_kind_info[record.zone.kind].is_device ||
				      strlen(record.zone.path) >= EXTERNAL_NAME_MAX ||
				      record.window_ns > 3600 * NSEC_PER_SEC ||
				      (record.window_ns && record.sample != SAMPLE_POWER)))
				abort();
		}
		if (text.at != copy + size)
			abort();
	}
	free(copy);
	return 0;
}
