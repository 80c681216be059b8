/* SPDX-License-Identifier: Apache-2.0 */
/* The limits on rows and series, and the clients that determine how long new series settle. */
#pragma once

#include <stdint.h>

#include "attribution/ledger.h"
#include "base/health.h"

struct series_health {
	uint64_t max_series;             /* in one response: --metrics.max-series */
	uint64_t overflows[LEVEL_COUNT]; /* rows that the ledger had no room for */
	uint64_t machine_overflows;      /* possible virtual machines without room */
	uint32_t scrape_clients;         /* that determine the settle time */
	uint64_t scrape_clients_forgotten;
};
extern const struct health_part series_health_part; /* of a struct series_health */
