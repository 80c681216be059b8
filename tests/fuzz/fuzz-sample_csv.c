// SPDX-License-Identifier: Apache-2.0
/* Samples as CSV: a table that is read has as many rows when it is written and read again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "tests/unit/samples/csv_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(sample_table_release) struct sample_table first = { .rows = 0 };
	CLEANUP(sample_table_release) struct sample_table second = { .rows = 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct diag diag = { "" };

	if (csv_text_read((const char *)data, size, &first, &diag) < 0 || !first.column_count ||
	    sample_table_write_csv(&first, &text) < 0)
		return 0;
	if (csv_text_read(text.data, text.len, &second, &diag) < 0 || second.rows != first.rows ||
	    second.column_count != first.column_count)
		abort();
	return 0;
}
