// SPDX-License-Identifier: Apache-2.0
/*
 * Any answer from the local socket, and any file as a baseline, printed by `kepler stat`: the text
 * has no byte that commands the terminal.
 */
#include <stdlib.h>

#include "stat/stat_runs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct strbuf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char byte = (unsigned char)text->data[i];

		if ((byte < 0x20 && byte != '\n') || byte == 0x7f)
			abort();
	}
}

static void print(const struct stat_runs *runs, const struct stat_baseline *baseline)
{
	struct strbuf text = STRBUF_INIT;

	(void)stat_runs_text(runs, baseline, &text);
	check_text(&text);
	strbuf_reset(&text);
	(void)stat_runs_markdown(runs, baseline, &text);
	check_text(&text);
	strbuf_reset(&text);
	(void)stat_runs_json(runs, baseline, &text);
	check_text(&text);
	strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat_result result = { .command = "make", .elapsed_seconds = 1, .with_idle = true };
	struct stat_baseline baseline = { .name = NULL };
	struct stat_runs runs = { .count = 0 };

	if (stat_baseline_parse((const char *)data, size, &baseline, NULL) == 0)
		baseline.name = "baseline";
	(void)stat_reading_parse((const char *)data, size, &result.reading, NULL);
	for (int i = 0; i < 3; i++) {
		result.elapsed_seconds += i;
		if (stat_runs_add(&runs, &result) < 0)
			abort();
	}
	print(&runs, &baseline);
	stat_runs_release(&runs);
	free(baseline.joules);
	return 0;
}
