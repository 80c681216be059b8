// SPDX-License-Identifier: Apache-2.0
/*
 * Answers of a Prometheus: the same in parts of any size, and samples of whatever they say are
 * finite numbers.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "samples/extraction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *bytes;
	size_t size, step;
};

struct count {
	uint64_t series, points;
};

static int count_series(void *userdata, const struct series_labels *labels)
{
	struct count *count = userdata;

	count->series += 1 + labels->count;
	return 0;
}

static int count_point(void *userdata, const struct series_point *point)
{
	struct count *count = userdata;

	if (point->time_us < 0 || isinf(point->value))
		abort();
	count->points++;
	return 0;
}

static int feed(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	CLEANUP(series_reader_release) struct series_reader reader;
	const struct input *input = userdata;
	int r = 0;

	series_reader_init(&reader, sink);
	for (size_t at = 0; r == 0 && at < input->size; at += input->step) {
		size_t left = input->size - at;

		r = series_reader_feed(&reader, input->bytes + at,
				       left < input->step ? left : input->step, diag);
	}
	return r == 0 ? series_reader_end(&reader, diag) : r;
}

static void extract(struct input *input, bool by_owner)
{
	const struct extract_options options = {
		.sources = { "rapl-sysfs" },
		.source_count = 1,
		.node = "any",
		.by_package = true,
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
	struct input input = { (const char *)data, size, size + 1 };
	struct count whole = { 0 }, parts = { 0 };
	const struct series_sink to_whole = { count_series, count_point, &whole };
	const struct series_sink to_parts = { count_series, count_point, &parts };
	struct diag diag = { "" };
	int first = feed(&input, &to_whole, &diag), second;

	input.step = size ? (size_t)data[0] % 7 + 1 : 1;
	second = feed(&input, &to_parts, &diag);
	if (first != second || whole.series != parts.series || whole.points != parts.points)
		abort();
	extract(&input, false);
	extract(&input, true);
	return 0;
}
