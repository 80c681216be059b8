/* SPDX-License-Identifier: Apache-2.0 */
/* The limits on rows and series, and the clients that determine how long new series settle. */
#pragma once

#include <stdint.h>

#include "attribution/ledger.h"
#include "base/health.h"

/* Rows of a level that the ledger had no room for; "machines": possible VMs without room. */
struct series_overflow {
	char table[24];
	uint64_t count;
};

struct series_health {
	uint64_t max_series;     /* in one response: --metrics.max-series */
	uint32_t scrape_clients; /* that determine the settle time */
	uint32_t overflow_count;
	struct series_overflow overflows[LEVEL_COUNT + 1];
	uint64_t scrape_clients_forgotten;
};

/* Fills the overflows: of the ledger, of the reader of @processes, and possible @machines. */
void series_health_count(struct series_health *health, const struct ledger *ledger,
			 uint64_t processes, uint64_t machines);
extern const struct health_part series_health_part; /* of a struct series_health */
