/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of a round of readings, and its results by unit, for metrics and `kepler doctor`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/unit_accounts.h"
#include "base/health.h"

#define UNIT_PAGE_MAX (8U << 20) /* bytes of a pod's page */
#define UNIT_ROUND_NS (10 * 1000000000ULL)

struct unit_health {
	char unit[UNIT_NAME_MAX + 1];
	uint64_t pods; /* that its last round could read */
	uint64_t reads, failures;
	char error[256]; /* the last one of the last round; "" there was none */
};

struct units_health {
	uint32_t count;
	struct unit_health units[UNITS_MAX];
	uint64_t beyond; /* pods and readings that found no room */
	bool has_read;   /* a round is over */
};
extern const struct health_part units_health_part; /* of a struct units *, which may be NULL */
