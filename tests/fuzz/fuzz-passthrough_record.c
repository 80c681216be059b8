// SPDX-License-Identifier: Apache-2.0
/* Bytes of a host's channel: whatever they are, a record that is found can be written again. */
#include <stdlib.h>
#include <string.h>

#include "passthrough/passthrough_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_record(const struct passthrough_record *record)
{
	struct passthrough_record again;
	uint8_t bytes[PASSTHROUGH_RECORD_MAX];
	size_t len;

	if (passthrough_record_fault(record))
		abort();
	for (size_t i = 0; i < record->zone_count; i++) {
		if (record->zones[i].quality >= QUALITY_COUNT)
			abort();
	}
	len = passthrough_record_write(record, bytes);
	if (len > sizeof(bytes) || passthrough_record_read(bytes, len, &again) != PASSTHROUGH_OK ||
	    again.sequence != record->sequence || again.zone_count != record->zone_count)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct passthrough_stream stream = { .len = 0 };
	struct passthrough_record record;
	size_t taken;

	for (size_t at = 0; at < size; at += taken) {
		/* The first byte of each piece is its length. */
		size_t piece = data[at] + 1U;

		taken = passthrough_stream_add(&stream, data + at,
					       piece < size - at ? piece : size - at);
		if (!taken)
			abort();
		while (passthrough_stream_next(&stream, &record))
			check_record(&record);
	}
	if (stream.skipped > size)
		abort();
	return 0;
}
