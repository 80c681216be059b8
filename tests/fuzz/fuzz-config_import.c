// SPDX-License-Identifier: Apache-2.0
/* A configuration of another Kepler, of any bytes: what is made of it is loaded. */
#include <stdint.h>
#include <stdlib.h>

#include "config/config.h"
#include "config/config_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf out = STRBUF_INIT, report = STRBUF_INIT;
	struct diag diag = { 0 };
	struct import_counts counts;
	struct config config;

	if (config_import("fuzz", (const char *)data, size, &out, &report, &counts, &diag) == 0) {
		if (config_load_text("imported", out.data, out.len, &config, &diag) < 0)
			abort();
		config_release(&config);
	} else if (!diag.text[0]) {
		abort(); /* refused, without a reason */
	}
	strbuf_release(&out);
	strbuf_release(&report);
	return 0;
}
