// SPDX-License-Identifier: Apache-2.0
/* Numbers and durations a person may write: what is read comes back from its own text. */
#include <stdint.h>

#include "base/macro.h"
#include "base/num.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_double(const char *text)
{
	char digits[FORMAT_DOUBLE_MAX + 1];
	double value, back;

	if (parse_double(text, &value) < 0)
		return;
	digits[format_double(digits, value)] = '\0';
	if (parse_double(digits, &back) < 0 || memcmp(&value, &back, sizeof(value)) != 0)
		abort();
}

static void try_duration(const char *text)
{
	uint64_t ns, back;
	char again[64];

	if (parse_duration_ns(text, &ns) < 0)
		return;
	format_duration(again, sizeof(again), ns);
	if (parse_duration_ns(again, &back) < 0 || back != ns)
		abort();
}

static void try_u64(const char *text, size_t len)
{
	uint64_t value, back;
	char digits[FORMAT_U64_MAX];

	if (parse_u64(text, len, &value) < 0)
		return;
	if (parse_u64(digits, format_u64(digits, value), &back) < 0 || back != value)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);

	try_u64((const char *)data, size);
	if (text) {
		memcpy(text, data, size);
		text[size] = '\0';
		try_double(text);
		try_duration(text);
	}
	return 0;
}
