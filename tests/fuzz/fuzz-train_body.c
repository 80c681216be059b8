// SPDX-License-Identifier: Apache-2.0
/* The body of a request to train: series are whole, and what becomes a path is a name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainers/train_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_series(const struct train_series *series, const char *text, size_t size)
{
	if (!series->text)
		return;
	if (series->text < text || series->text + series->len > text + size || series->len < 2 ||
	    !strchr("{[", series->text[0]))
		abort();
	if (!strchr("}]", series->text[series->len - 1]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct train_body body;
	struct diag diag = { "" };
	const char *text = (const char *)data;
	int r = train_body_read(text, size, &body, &diag);

	if (r < 0 && (r != -EINVAL || !diag.text[0]))
		abort();
	if (r < 0)
		return 0;
	check_series(&body.series, text, size);
	check_series(&body.idle, text, size);
	if (!body.series.text || !body.name[0] || strchr(body.name, '/') || body.name[0] == '.' ||
	    strchr(body.source, '/') || body.source[0] == '.')
		abort();
	return 0;
}
