// SPDX-License-Identifier: Apache-2.0
/* A request to the estimator: all that is taken from it is within its limits. */
#include <math.h>
#include <stdlib.h>

#include "model-server/estimate_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct estimate_request request;
	struct diag diag = { "" };

	if (estimate_request_read((const char *)data, size, &request, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	if (!request.row_count || request.row_count > ESTIMATE_ROWS_MAX || !request.name_count ||
	    request.name_count > ESTIMATE_NAMES_MAX)
		abort();
	for (size_t i = 0; i < request.row_count * request.name_count; i++)
		if (isinf(request.values[i]))
			abort();
	estimate_request_release(&request);
	return 0;
}
