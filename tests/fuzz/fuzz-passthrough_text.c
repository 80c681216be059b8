// SPDX-License-Identifier: Apache-2.0
/* Files of a host, with their CRC as it is and with a right one. */
#include <stdlib.h>
#include <string.h>

#include "passthrough/crc32c.h"
#include "passthrough/passthrough_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t len)
{
	struct strbuf written = STRBUF_INIT;
	struct passthrough_record record, again;
	struct diag diag = { "" };

	if (passthrough_text_read(text, len, &record, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return;
	}
	if (passthrough_record_fault(&record))
		abort();
	passthrough_text_write(&record, &written);
	if (strbuf_error(&written) == 0 &&
	    (passthrough_text_read(written.data, written.len, &again, &diag) < 0 ||
	     again.sequence != record.sequence || again.zone_count != record.zone_count))
		abort();
	strbuf_release(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, data, size);
	strbuf_addf(&text, "end %08x\n", crc32c(data, size));
	check_text(text.data, text.len);
	strbuf_release(&text);

	strbuf_add(&text, data, size);
	check_text(text.data ? text.data : "", text.len);
	strbuf_release(&text);
	return 0;
}
