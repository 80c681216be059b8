/* SPDX-License-Identifier: Apache-2.0 */
/* All parts of the program that report their health, in the order of the page. */
#pragma once

#include "base/health.h"

#define HEALTH_TABLE_MAX 32

struct monitor;

/* Part number @index, for docs/metrics.md and tests; NULL after the last. */
const struct health_part *health_table_part(size_t index);
/* Fills in the parts of @monitor, which must be completely open. Returns their number. */
size_t health_table_sources(const struct monitor *monitor,
			    struct health_source ret[HEALTH_TABLE_MAX]);
