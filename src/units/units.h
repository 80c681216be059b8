/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Units of work of pods: a thread reads their counters every --units.refresh, in rounds that begin
 * at the end of an interval, and the engine's thread books the readings
 * (attribution/unit_accounts.h). Neither waits for the other.
 *
 * A pod's request has 2 s and UNIT_PAGE_MAX bytes, a round UNIT_ROUND_NS; pods that do not answer
 * are left alone for a growing number of rounds. A unit that cannot be read has no series, and its
 * reason is in the log, in `kepler doctor` and as a count in metrics.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/unit_accounts.h"
#include "base/diag.h"
#include "units/unit_health.h"
#include "units/unit_options.h"

struct pod_addresses;
struct units;

/*
 * Starts the thread, which calls @start_thread first (NULL: nothing). Copies @options, which are
 * checked and have at least one rule. 0, or -errno with a diagnosis. What does not answer is state.
 */
int units_start(const struct units_options *options, void (*start_thread)(void), struct units **ret,
		struct diag *diag);
/* Ends the thread, within a second unless a file hangs. NULL is fine. */
void units_stop(struct units *units);
/* The table that Kubernetes is to keep up to date; borrowed. NULL: no rule reads pods. */
struct pod_addresses *units_addresses(const struct units *units);
/* The units' names, for accounts. */
void units_name(const struct units *units, struct unit_accounts *accounts);
/*
 * The end of an interval, with @ledger closed: books a round that is over, and begins one when its
 * time has come. On the engine's thread.
 */
void units_follow(struct units *units, struct unit_accounts *accounts, const struct ledger *ledger,
		  uint64_t now_ns, int64_t boottime_ms);
/*
 * For `kepler doctor`, in place of units_follow(): rounds until each unit was read or has failed,
 * for at most @patience_ns; books nothing.
 */
void units_try(struct units *units, const struct ledger *ledger, uint64_t patience_ns,
	       struct units_health *ret);
/* From any thread. */
void units_get_health(struct units *units, struct units_health *ret);
