// SPDX-License-Identifier: Apache-2.0
/* Answers at the port of vhostmd, from a host that may be hostile. */
#include <stdlib.h>
#include <string.h>

#include "passthrough/passthrough_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values without a fault, and what is written of them is read as the same. */
static void check(struct passthrough_record record)
{
	struct strbuf text = STRBUF_INIT;
	struct passthrough_record again;
	struct diag diag = { "" };

	if (!record.epoch != !record.sequence)
		abort();
	if (!record.epoch)
		record.epoch = record.sequence = 1;
	if (passthrough_record_fault(&record) || !record.zone_count)
		abort();
	passthrough_xml_write(&record, &text);
	if (strbuf_error(&text) == 0 &&
	    (passthrough_xml_read(text.data, text.len, &again, &diag) < 0 ||
	     again.epoch != record.epoch || again.sequence != record.sequence ||
	     again.cpu_time_us != record.cpu_time_us || again.zone_count != record.zone_count ||
	     again.zones[0].dynamic_uj != record.zones[0].dynamic_uj))
		abort();
	strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* not terminated */
	struct passthrough_record record;
	struct diag diag = { "" };

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (passthrough_xml_read(text, size, &record, &diag) == 0)
		check(record);
	else if (!diag.text[0])
		abort();
	free(text);
	return 0;
}
