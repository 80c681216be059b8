// SPDX-License-Identifier: Apache-2.0
#include "attribution/counters.h"

int counters_follow(struct ledger *ledger, uint32_t known, bool first, uint64_t now_ns)
{
	const struct quantity *born[SIGNAL_COUNT];
	uint32_t count = 0;

	for (uint32_t left = known & SIGNALS_COUNTERS; left; left &= left - 1) {
		const struct quantity *quantity = &signal_info[__builtin_ctz(left)];

		if (layout_find(ledger_layout(ledger), quantity) == COLUMN_NONE)
			born[count++] = quantity;
	}
	return count ? ledger_count(ledger, born, count, first ? 0 : now_ns) : 0;
}

static void charge(struct ledger *ledger, const struct party *party, uint32_t column,
		   uint64_t amount)
{
	if (party->process != LEDGER_NONE)
		ledger_charge(ledger, party->process, column, amount);
	else
		ledger_charge_container(ledger, party->container, column, amount);
}

/* Returns the sum of the amounts that were charged. */
static uint64_t book(struct ledger *ledger, const struct parties *parties, uint32_t column,
		     const uint64_t *amount)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parties->count; i++) {
		if (!amount[i])
			continue;
		charge(ledger, &parties->party[i], column, amount[i]);
		sum += amount[i];
	}
	return sum;
}

void counters_book(struct ledger *ledger, const struct parties *parties, const uint64_t *node,
		   uint64_t now_ns, uint64_t settle_ns)
{
	for (uint32_t left = parties->signals & SIGNALS_COUNTERS; left; left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);
		uint32_t column = layout_find(ledger_layout(ledger), &signal_info[signal]);

		if (column == COLUMN_NONE || !ledger_counts(ledger, column, now_ns, settle_ns))
			continue;
		ledger_node_sum(ledger, column, node[signal],
				node[signal] -
					book(ledger, parties, column, parties->signal[signal]));
	}
}
