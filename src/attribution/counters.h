/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of rows: amounts other than CPU time that processes and containers used, in cycles,
 * instructions, packets or bytes. Each is a signal of SIGNALS_COUNTERS (energy/signal.h), added up
 * exactly as its provider counts it.
 *
 * Rows get the column of a counter in the interval in which its signal is first known. If that is
 * the first interval, it counts from there on. Otherwise its series are new on rows that are
 * already shown: like every new series they show 0 until they have settled, and amounts from before
 * that are in no row and not in the node's sum. A counter whose signal is lost stands still. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "energy/signal.h"

/*
 * @known are the signals that are known in the interval that ends at @now_ns. New ones that can be
 * counters get their columns. @first: the interval is the first of all. To be called before
 * ledger_begin(), or at least before the first charge. 0, or -ENOMEM: the new ones wait.
 */
int counters_follow(struct ledger *ledger, uint32_t known, bool first, uint64_t now_ns);
/*
 * Charges the signals of @parties to their rows, for counters that have counted for @settle_ns or
 * from the start. @node [SIGNAL_COUNT] is the amount of the whole node; the rest that no party has
 * is unattributed. Between ledger_begin() and ledger_close().
 */
void counters_book(struct ledger *ledger, const struct parties *parties, const uint64_t *node,
		   uint64_t now_ns, uint64_t settle_ns);
