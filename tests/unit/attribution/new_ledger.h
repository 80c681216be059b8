/* SPDX-License-Identifier: Apache-2.0 */
/* An empty ledger, whose row 0 is system_processes. */
#pragma once

#include "attribution/ledger.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

static inline struct ledger *new_ledger(uint32_t max_processes, uint32_t max_containers,
					uint32_t zones)
{
	const struct ledger_options options = { .max_processes = max_processes,
						.max_containers = max_containers };
	struct ledger *ledger;

	assert_int_equal(ledger_new(&options, &ledger), 0);
	assert_int_equal(test_add_zones(ledger, zones), 0);
	return ledger;
}
