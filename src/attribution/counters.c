// SPDX-License-Identifier: Apache-2.0
#include "attribution/counters.h"

int counters_follow(struct counters *counters, struct ledger *ledger, uint32_t known, bool first,
		    uint64_t now_ns)
{
	uint32_t born = known & SIGNALS_COUNTERS & ~ledger_layout(ledger)->counters;
	int r;

	if (!born)
		return 0;
	r = ledger_count(ledger, born);
	if (r < 0)
		return r;
	if (first)
		counters->begun |= born;
	for (uint32_t left = born; left; left &= left - 1)
		counters->born_ns[__builtin_ctz(left)] = now_ns;
	return 0;
}

/* Of those that are known in this interval, the ones that count. */
static uint32_t begin_settled(struct counters *counters, uint32_t known, uint64_t now_ns,
			      uint64_t settle_ns)
{
	for (uint32_t left = known & ~counters->begun; left; left &= left - 1) {
		uint32_t signal = (uint32_t)__builtin_ctz(left);

		if (now_ns > counters->born_ns[signal] &&
		    now_ns - counters->born_ns[signal] >= settle_ns)
			counters->begun |= SIGNAL_BIT(signal);
	}
	return known & counters->begun;
}

static void charge(struct ledger *ledger, const struct party *party, uint32_t column,
		   uint64_t amount)
{
	if (party->process != LEDGER_NONE)
		ledger_charge(ledger, party->process, column, amount);
	else
		ledger_charge_container(ledger, party->container, column, amount);
}

/* Returns the sum of what was charged. */
static uint64_t book(struct ledger *ledger, const struct parties *parties, enum signal signal)
{
	uint32_t column = layout_counter(ledger_layout(ledger), signal);
	const uint64_t *amount = parties->signal[signal];
	uint64_t sum = 0;

	for (size_t i = 0; i < parties->count; i++) {
		if (!amount[i])
			continue;
		charge(ledger, &parties->party[i], column, amount[i]);
		sum += amount[i];
	}
	return sum;
}

void counters_book(struct counters *counters, struct ledger *ledger, const struct parties *parties,
		   const uint64_t *node, uint64_t now_ns, uint64_t settle_ns)
{
	uint32_t known = parties->signals & ledger_layout(ledger)->counters;

	for (uint32_t left = begin_settled(counters, known, now_ns, settle_ns); left;
	     left &= left - 1) {
		enum signal signal = (enum signal)__builtin_ctz(left);

		ledger_node_counter(ledger, signal, node[signal],
				    node[signal] - book(ledger, parties, signal));
	}
}
