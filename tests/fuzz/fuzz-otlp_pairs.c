// SPDX-License-Identifier: Apache-2.0
/* Lists in variables of OpenTelemetry: names are not empty, and no control character is let in. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp/otlp_environment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_plain(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct otlp_pairs pairs;
	struct diag diag = { 0 };

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (otlp_pairs_parse(text, &pairs, &diag) == 0) {
		for (size_t i = 0; i < pairs.count; i++) {
			if (!pairs.list[i].name[0])
				abort();
			must_be_plain(pairs.list[i].name);
			must_be_plain(pairs.list[i].value);
		}
	} else if (!diag.text[0]) {
		abort();
	}
	otlp_pairs_release(&pairs);
	free(text);
	return 0;
}
