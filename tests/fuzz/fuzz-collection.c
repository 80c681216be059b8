// SPDX-License-Identifier: Apache-2.0
/* The progress of a collection: whatever is read of it is written as the same text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "samples/collection_progress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP_FREE char *source = NULL;
	struct collect_plan plan, again_plan;
	struct collect_progress progress, again;
	CLEANUP_FREE char *again_source = NULL;
	struct diag diag = { "" };

	if (progress_parse((const char *)data, size, &plan, &source, &progress, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	if (progress.metric > plan.metric_count || plan.step_us <= 0)
		abort();
	if (progress_write(&plan, &progress, &text) < 0 ||
	    progress_parse(text.data, text.len, &again_plan, &again_source, &again, &diag) < 0)
		abort();
	if (strcmp(source, again_source) != 0 || again.offset != progress.offset ||
	    again.metric != progress.metric || again.has_items != progress.has_items ||
	    again_plan.end_us != plan.end_us || again_plan.metric_count != plan.metric_count)
		abort();
	free(plan.metrics);
	free(again_plan.metrics);
	return 0;
}
