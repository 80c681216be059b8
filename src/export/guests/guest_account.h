/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report to a guest about its energy: the row of its virtual machine in a snapshot, as a record
 * (passthrough/passthrough_record.h). Its cumulative energies are the values of the series
 * kepler_vm_…, added up over the accounts of a kind and quality, and rounded down to the
 * resolution. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "export/guests/guest_table.h"
#include "passthrough/passthrough_record.h"
#include "snapshot/snapshot.h"

struct guest_account_options {
	bool idle;              /* idle energy as well, where rows have any */
	uint64_t resolution_uj; /* 1 or 1000 */
	uint64_t period_ns;     /* of snapshots, nominally */
};

/* The mean time between two records of a guest is not less. */
#define GUEST_RECORD_NS (1000000000ULL)

/*
 * The next record of @guest from its row in @snapshot, taken at @boottime_ns: false if none is due
 * yet, or the machine has ended. The record counts as sent, and the guest
 * has its sequence and time.
 */
bool guest_account_next(struct guest *guest, const struct snapshot *snapshot,
			const struct guest_account_options *options, uint64_t boottime_ns,
			struct passthrough_record *ret);
