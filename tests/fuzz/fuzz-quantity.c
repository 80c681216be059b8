// SPDX-License-Identifier: Apache-2.0
/*
 * Amounts that authors of pods write, and base64 as in kubeconfigs: a thousandth of an amount is
 * that amount divided by 1,000 and rounded up; what decodes is no longer than its text says.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/macro.h"
#include "kube/base64.h"
#include "kube/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_quantity(const char *text)
{
	CLEANUP_FREE char *thousandth = NULL;
	uint64_t milli, less = 0;

	if (quantity_parse_milli(text, &milli) < 0 || asprintf(&thousandth, "%sm", text) < 0)
		return; /* not where the text has a suffix of its own */
	if (quantity_parse_milli(thousandth, &less) == 0 &&
	    less != milli / 1000 + (milli % 1000 > 0))
		abort();
}

static void try_base64(const char *text)
{
	char *data = NULL;
	size_t len = 0;

	if (base64_decode(text, &data, &len) < 0)
		return;
	if (len > strlen(text) / 4 * 3 || data[len])
		abort();
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);

	if (text) {
		memcpy(text, data, size);
		text[size] = '\0';
		try_quantity(text);
		try_base64(text);
	}
	return 0;
}
