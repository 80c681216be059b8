// SPDX-License-Identifier: Apache-2.0
/* A file of remote write's queue: each record that is found is converted, or refused. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "export/remote-write/write_reader.h"
#include "export/remote-write/write_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert(const char *message, size_t len)
{
	CLEANUP(write_reader_release) struct write_reader reader = { 0 };
	CLEANUP(snappy_writer_release) struct snappy_writer out = { 0 };
	int r = write_reader_open(&reader, message, len);

	while (r >= 0) {
		size_t block_len;

		r = write_convert_to_1(&reader, 100, 4096, &out);
		if (r == 0)
			return;
		if (r > 0 && !snappy_writer_finish(&out, &block_len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct write_record record;

	while (size >= WRITE_RECORD_HEAD && write_record_parse(data, &record) == 0 &&
	       record.len <= size - WRITE_RECORD_HEAD) {
		const char *message = (const char *)data + WRITE_RECORD_HEAD;

		(void)write_record_check(&record, message);
		convert(message, record.len);
		data += WRITE_RECORD_HEAD + record.len;
		size -= WRITE_RECORD_HEAD + record.len;
	}
	convert((const char *)data, size);
	return 0;
}
