// SPDX-License-Identifier: Apache-2.0
/* Series and published errors: windows that are finite and in order, or there is a reason. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "evidence/published_report.h"
#include "evidence/series_csv.h"
#include "evidence/series_json.h"
#include "evidence/series_pick.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct text_input inputs[2];

static void open_input(struct text_input *input, const uint8_t *data, size_t size)
{
	struct diag diag = { "" };
	int fd = memfd_create("series", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0 ||
	    text_input_open_fd(input, fd, "series", &diag) < 0)
		abort();
}

static void check(const struct series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct window *window = &series->windows[i];
		if (!isfinite(window->rate) || !(window->end_s > window->start_s) ||
		    (i > 0 && window->start_s < window[-1].end_s))
			abort();
	}
}

static void read_one(const uint8_t *data, size_t size, bool is_json, enum series_kind kind)
{
	CLEANUP(series_pick_release) struct series_pick pick = { .path = "series", .kind = kind };
	struct series *series = NULL;
	struct diag diag = { "" };

	open_input(&inputs[0], data, size);
	open_input(&inputs[1], data, size);
	int r = is_json ? series_json_read(&inputs[0], &inputs[1], &pick, &diag)
			: series_csv_read(&inputs[0], &pick, &diag);
	if (r == 0)
		r = series_pick_end(&pick, &series, &diag);
	if ((r < 0) != (diag.text[0] != '\0') || (r < 0) != (series == NULL))
		abort();
	if (series)
		check(series);
	series_free(series);
	text_input_close(&inputs[0]);
	text_input_close(&inputs[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct published_report report;
	struct diag diag = { "" };

	read_one(data, size, true, SERIES_AUTO);
	read_one(data, size, true, SERIES_COUNTER);
	read_one(data, size, false, SERIES_AUTO);
	open_input(&inputs[0], data, size);
	if (published_report_read_input(&inputs[0], &report, &diag) < 0 && !diag.text[0])
		abort();
	published_report_release(&report);
	text_input_close(&inputs[0]);
	return 0;
}
