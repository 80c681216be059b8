// SPDX-License-Identifier: Apache-2.0
/* A recording as a series: its windows are finite and in order, or there is a reason. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macro.h"
#include "evidence/recordings/recording_input.h"
#include "evidence/recordings/recording_series.h"
#include "evidence/series_pick.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct text_input input;

static void check(const struct series *series)
{
	for (size_t i = 0; i < series->count; i++) {
		const struct window *window = &series->windows[i];

		if (!isfinite(window->rate) || !(window->end_s > window->start_s) ||
		    (i > 0 && window->start_s < window[-1].end_s))
			abort();
	}
}

static void read_one(const uint8_t *data, size_t size, const char *words)
{
	CLEANUP(series_pick_release)
	struct series_pick pick = { .path = "recording", .words = words };
	struct series *series = NULL;
	struct diag diag = { "" };
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0 ||
	    text_input_open_fd(&input, fd, "recording", &diag) < 0)
		abort();
	struct recording_series *recording = recording_series_new(&pick);
	if (!recording)
		abort();
	int r = recording_series_read(recording, &input, &diag);
	if (r == 0)
		r = series_pick_end(&pick, &series, &diag);
	if ((r < 0) != (diag.text[0] != '\0') || (r < 0) != (series == NULL))
		abort();
	if (series)
		check(series);
	series_free(series);
	recording_series_free(recording);
	text_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_one(data, size, NULL);
	read_one(data, size, "package");
	read_one(data, size, "web");
	return 0;
}
