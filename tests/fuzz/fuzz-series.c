// SPDX-License-Identifier: Apache-2.0
/* Responses of a Prometheus: times and values are valid, and samples of them are finite numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "samples/extraction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *bytes;
	size_t size;
};

static int check_series(void *userdata, const struct series_labels *labels)
{
	(void)userdata;
	if (labels->count > SERIES_LABELS_MAX)
		abort();
	return 0;
}

static int check_point(void *userdata, const struct series_point *point)
{
	(void)userdata;
	if (point->time_us < 0 || isinf(point->value) || !point->text)
		abort();
	return 0;
}

static int feed(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	const struct input *input = userdata;

	return series_read_text(input->bytes, input->size, sink, NULL, diag);
}

static void extract(struct input *input, bool by_owner)
{
	const struct extract_options options = {
		.sources = { "rapl-sysfs" },
		.source_count = 1,
		.node = "any",
		.by_owner = by_owner,
	};
	struct extraction result;
	struct diag diag = { "" };

	if (extraction_run(&options, feed, input, &result, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return;
	}
	for (size_t i = 0; i < result.table.column_count; i++) {
		for (size_t row = 0; row < result.table.rows; row++) {
			if (isinf(result.table.columns[i][row]))
				abort();
		}
	}
	extraction_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { (const char *)data, size };
	const struct series_sink sink = { check_series, check_point, NULL };
	struct diag diag = { "" };

	(void)feed(&input, &sink, &diag);
	extract(&input, false);
	extract(&input, true);
	return 0;
}
