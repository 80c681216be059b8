// SPDX-License-Identifier: Apache-2.0
/* Tables of SPECpower_ssj2008 results: accepted types have a finite power at each level. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "tools/builtin-models/specpower_csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(platform_types_release) struct platform_types types = { .count = 0 };
	struct diag diag = { "" };

	if (specpower_csv_parse("fuzz", (const char *)data, size, &types, &diag) < 0)
		return 0;
	for (size_t i = 0; i < types.count; i++) {
		for (size_t level = 0; level < POWER_LEVELS; level++) {
			if (!isfinite(types.types[i].ln_w[level]))
				abort();
		}
	}
	return 0;
}
