// SPDX-License-Identifier: Apache-2.0
/* Pages of exporters: series have a name, and points are finite or no number. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "samples/exposition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_series(void *userdata, const struct series_labels *labels)
{
	size_t *pending = userdata;

	if (labels->count == 0 || labels->count > SERIES_LABELS_MAX ||
	    strcmp(labels->name[0], "__name__") != 0 || !*labels->value[0])
		abort();
	for (size_t i = 0; i < labels->count; i++) {
		if (strlen(labels->name[i]) + strlen(labels->value[i]) > SIZE_MAX / 2)
			abort();
	}
	(*pending)++;
	return 0;
}

static int check_point(void *userdata, const struct series_point *point)
{
	size_t *pending = userdata;

	if (isinf(point->value) || point->time_us != 7 || !*point->text)
		abort();
	(*pending)--;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t pending = 0;
	const struct series_sink sink = { check_series, check_point, &pending };
	struct diag diag = { "" };
	int r = exposition_read((const char *)data, size, 7, &sink, &diag);

	if (pending || (r < 0) != (diag.text[0] != '\0'))
		abort();
	return 0;
}
