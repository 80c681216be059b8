/* SPDX-License-Identifier: Apache-2.0 */
/* What a collection (collection.h) consists of. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COLLECT_METRICS_MAX 1024
#define COLLECT_NAME_MAX    200

struct collect_plan {
	const char *source; /* where it is asked, as text; a collection is of one */
	int64_t start_us, end_us, step_us;
	char (*metrics)[COLLECT_NAME_MAX];
	size_t metric_count;
};
