// SPDX-License-Identifier: Apache-2.0
#include "attribution/computed.h"

const struct computed_ops *const computed_quantities[] = { NULL };

const struct option_section *computed_options_at(size_t index)
{
	return computed_quantities[index] ? &computed_quantities[index]->options : NULL;
}

int computed_follow(struct ledger *ledger, const struct computed_options *options, bool first,
		    uint64_t now_ns)
{
	int r = 0;

	for (size_t i = 0; computed_quantities[i] && r == 0; i++) {
		const struct quantity *quantity = &computed_quantities[i]->quantity;

		if (computed_quantities[i]->is_wanted(options) &&
		    layout_find(ledger_layout(ledger), quantity) == COLUMN_NONE)
			r = ledger_count(ledger, &quantity, 1, first ? 0 : now_ns);
	}
	return r;
}

void computed_book(struct ledger *ledger, const struct accountant *accountant,
		   const struct computed_options *options, uint64_t now_ns, uint64_t settle_ns)
{
	for (size_t i = 0; computed_quantities[i]; i++) {
		const struct computed_ops *ops = computed_quantities[i];
		uint32_t column = layout_find(ledger_layout(ledger), &ops->quantity);

		if (column != COLUMN_NONE && ledger_counts(ledger, column, now_ns, settle_ns))
			ops->book(ledger, accountant, column, options);
	}
}
