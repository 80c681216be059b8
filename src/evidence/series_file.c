// SPDX-License-Identifier: Apache-2.0
#include "evidence/series_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "evidence/recordings/recording_input.h"
#include "evidence/recordings/recording_ring.h"
#include "evidence/recordings/recording_series.h"
#include "evidence/series_csv.h"
#include "evidence/series_json.h"
#include "evidence/series_pick.h"

/* Both readers of one file. */
struct inputs {
	struct text_input first, again;
};

static void inputs_free(struct inputs **inputs)
{
	if (!*inputs)
		return;
	text_input_close(&(*inputs)->first);
	text_input_close(&(*inputs)->again);
	free(*inputs);
}

static bool is_json(struct text_input *input)
{
	while (strchr(" \t\r\n", text_input_peek(input)) && text_input_peek(input) > 0)
		(void)text_input_next(input);
	int c = text_input_peek(input);
	return c == '{' || c == '[';
}

static int read_recording(struct text_input *input, struct series_pick *pick, struct diag *diag)
{
	struct recording_series *recording = recording_series_new(pick);
	int r = recording ? recording_series_read(recording, input, diag)
			  : diag_set(diag, -ENOMEM, "out of memory");

	recording_series_free(recording);
	return r;
}

static int read_file(struct inputs *inputs, const char *file, struct series_pick *pick,
		     struct diag *diag)
{
	struct text_input *again = NULL;
	int r = text_input_open(&inputs->first, file, diag);
	if (r < 0)
		return r;
	if (recording_input_is(&inputs->first))
		return read_recording(&inputs->first, pick, diag);
	if (!is_json(&inputs->first))
		return series_csv_read(&inputs->first, pick, diag);
	if (strcmp(file, "-") != 0) {
		r = text_input_open(&inputs->again, file, diag);
		again = &inputs->again;
	}
	return r < 0 ? r : series_json_read(&inputs->first, again, pick, diag);
}

int series_file_read(const char *path, enum series_kind kind, struct series **ret,
		     struct diag *diag)
{
	CLEANUP(series_pick_release) struct series_pick pick = { .path = path, .kind = kind };
	CLEANUP(inputs_free) struct inputs *inputs = calloc(1, sizeof(*inputs));
	CLEANUP_FREE char *file = strdup(path);
	if (!inputs || !file)
		return diag_set(diag, -ENOMEM, "out of memory");
	char *hash = strrchr(file, '#');
	if (hash && access(file, F_OK) < 0) {
		*hash = '\0';
		pick.words = hash + 1;
	}
	int r = recording_ring_is(file) ? recording_ring_read(file, &pick, diag)
					: read_file(inputs, file, &pick, diag);
	return r < 0 ? r : series_pick_end(&pick, ret, diag);
}
