// SPDX-License-Identifier: Apache-2.0
#include "snapshot/power_counting.h"

#include "base/num.h"
#include "energy/total.h"
#include "snapshot/account_picture.h"
#include "snapshot/snapshot.h"

uint64_t counting_power_uw(uint64_t energy_uj, uint64_t span_ns)
{
	return span_ns ? muldiv_u64(energy_uj, NSEC_PER_SEC, span_ns) : 0;
}

const struct layout *counting_layout(const struct counting *counting)
{
	return ledger_layout(counting->ledger);
}

/* The known energy of a zone in the total. */
static void look_at_zone(struct counting *counting, struct counted_account *counted, uint32_t z)
{
	const struct ledger *ledger = counting->ledger;

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		counted->node[mode] += ledger_node_delta(ledger, z, mode);
		counting->rows_uj += ledger_node_value(ledger, z, mode);
		for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT;
		     reason++)
			counting->rows_uj -= ledger_unattributed_value(ledger, z, mode, reason);
	}
	if (!counted->span_ns && snapshot_zone_draws(&counting->zones[z])) {
		counting->is_late &= counting->zones[z].state == ZONE_UP;
		counting->is_known = false;
	}
}

void counting_look_at_accounts(struct counting *counting)
{
	const struct layout *layout = counting_layout(counting);
	bool any = false;

	counting->is_known = counting->is_late = true;
	for (uint32_t i = 0; i < layout->account_count; i++) {
		const struct account *account = &layout->accounts[i];
		struct counted_account *counted = &counting->accounts[counting->count];

		if (counting->zones[account->first_zone].total == TOTAL_NONE)
			continue;
		*counted = (struct counted_account){
			.account = account,
			.span_ns = account_span_ns(layout, i, counting->zones),
		};
		for (uint32_t z = account->first_zone; z != ZONE_NONE; z = layout->zones[z].next)
			look_at_zone(counting, counted, z);
		any |= counted->span_ns > 0;
		counting->count++;
	}
	counting->is_late &= !counting->is_known;
	counting->is_known &= any;
}

/* The charges of all owners. */
void counting_look_at_owners(struct counting *counting)
{
	size_t count;
	const uint32_t *touched = ledger_touched(counting->ledger, LEVEL_CONTAINER, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t *deltas =
			ledger_deltas(counting->ledger, LEVEL_CONTAINER, touched[i]);

		if (!deltas)
			continue;
		counting->cpu_ns += deltas[COLUMN_CPU];
		for (uint32_t a = 0; a < counting->count; a++) {
			struct counted_account *counted = &counting->accounts[a];

			for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++)
				counted->rows[mode] +=
					account_value(counted->account, mode, deltas);
		}
	}
}

uint64_t counting_row_power_uw(const struct counting *counting, const uint64_t *deltas)
{
	uint64_t sum = 0;

	for (uint32_t a = 0; counting->is_known && a < counting->count; a++)
		sum += counting_power_uw(account_sum(counting->accounts[a].account, deltas),
					 counting->accounts[a].span_ns);
	return sum;
}

uint64_t counting_row_energy_uj(const struct counting *counting, const uint64_t *values)
{
	uint64_t sum = 0;

	for (uint32_t a = 0; a < counting->count; a++)
		sum += account_sum(counting->accounts[a].account, values);
	return sum;
}
