// SPDX-License-Identifier: Apache-2.0
/* report.json as kepler-validator compare reads it: a row has a verdict, a fault a diagnosis. */
#include <stdint.h>
#include <stdlib.h>

#include "verdict-report/report_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report_summary summary;
	struct comparison comparison;
	struct diag diag = { "" };

	int r = report_summary_parse((const char *)data, size, "x", &summary, &diag);
	if ((r < 0) != (diag.text[0] != '\0'))
		abort();
	for (size_t i = 0; i < summary.count; i++)
		if (summary.rows[i].verdict > VERDICT_NOT_APPLICABLE)
			abort();
	/* A report does not differ from itself. */
	if (r == 0 && report_compare(&summary, &summary, &comparison) == 0) {
		if (comparison.count != summary.count)
			abort();
		comparison_release(&comparison);
	}
	report_summary_release(&summary);
	return 0;
}
