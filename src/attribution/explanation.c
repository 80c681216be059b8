// SPDX-License-Identifier: Apache-2.0
#include "attribution/explanation.h"

#include "attribution/parties.h"
#include "attribution/share_weights.h"

bool explanation_has_party(const struct explanation *explanation, const struct ledger *ledger,
			   uint32_t process, uint32_t container)
{
	if (explanation->level == LEVEL_PROCESS)
		return process == explanation->row;
	if (explanation->level == LEVEL_CONTAINER)
		return container == explanation->row;
	return ledger_group_of(ledger_container_at(ledger, container), explanation->level) ==
	       explanation->row;
}

static enum explained_flow flow_of(const struct zone_account *account,
				   const struct energy_span *span)
{
	if (!span)
		return EXPLAINED_NOTHING;
	if (!span->from_ns)
		return EXPLAINED_BASELINE;
	if (!span->known)
		return EXPLAINED_UNKNOWN;
	return zone_account_counts(account, span) ? EXPLAINED_COUNTED : EXPLAINED_HELD;
}

void explanation_note_span(struct explained_zone *zone, const struct zone_account *account,
			   const struct zone_status *status, const struct energy_span *span)
{
	*zone = (struct explained_zone){
		.zone = *account->zone,
		.state = status->state,
		.error = status->error,
		.flow = flow_of(account, span),
		.from_ns = span ? span->from_ns : 0,
		.to_ns = span ? span->to_ns : 0,
		.idle_state = account->idle_state,
		.idle_power_uw = account->idle_power_uw,
		.idle_settles =
			account->idle_is_new || (span && span->to_ns < account->split_from_ns),
	};
	if (zone->flow == EXPLAINED_COUNTED)
		zone->energy_uj = span->energy_uj;
}

static void note_mode(struct explained_mode *mode, const struct attribution_result *result,
		      enum energy_mode which)
{
	uint64_t left_uj = result->mode_uj[which];

	mode->energy_uj = left_uj;
	for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++) {
		mode->unattributed_uj[reason] = result->unattributed_uj[which][reason];
		left_uj -= mode->unattributed_uj[reason];
	}
	mode->named_uj = left_uj;
}

/* The factor of the container that the row is, or belongs to; 0: it has none, or several. */
static double factor_of(const struct explanation *explanation, const struct explained_split *split,
			const struct ledger *ledger)
{
	if (split->input->rule != SHARE_FIT || !split->factor ||
	    explanation->level > LEVEL_CONTAINER)
		return 0;
	for (size_t i = 0; i < split->input->count; i++)
		if (explanation_has_party(explanation, ledger, split->party[i].process,
					  split->party[i].container))
			return split->factor[i].work * split->factor[i].all;
	return 0;
}

void explanation_note_split(const struct explanation *explanation, struct explained_zone *zone,
			    const struct explained_split *split, const struct ledger *ledger)
{
	const struct attribution_input *input = split->input;
	const struct attribution_result *result = split->result;
	bool by_usage = input->idle_share == IDLE_SHARE_USAGE;
	bool shared = input->idle_share != IDLE_SHARE_NODE;
	struct explained_mode *dynamic = &zone->mode[MODE_DYNAMIC], *idle = &zone->mode[MODE_IDLE];

	zone->rule = input->rule;
	zone->factor = factor_of(explanation, split, ledger);
	zone->asleep_uj = split->asleep_uj;
	zone->asleep_ns = split->asleep_ns;
	zone->idle_share = input->idle_share;
	note_mode(dynamic, result, MODE_DYNAMIC);
	note_mode(idle, result, MODE_IDLE);
	dynamic->dropped_weight = input->dropped_weight;
	dynamic->unseen_weight = input->unseen_weight;
	idle->dropped_weight = by_usage ? attribution_time_dropped(input) : 0;
	if (input->idle_share == IDLE_SHARE_ALLOCATION)
		idle->dropped_weight = input->idle_dropped_weight;
	idle->unseen_weight = by_usage ? attribution_time_unseen(input) : 0;
	for (size_t i = 0; i < input->count; i++) {
		bool its = explanation_has_party(explanation, ledger, split->party[i].process,
						 split->party[i].container);

		dynamic->named_weight += input->dynamic_weights[i];
		idle->named_weight += shared ? input->idle_weights[i] : 0;
		if (!its)
			continue;
		dynamic->parties += input->dynamic_weights[i] > 0;
		dynamic->weight += input->dynamic_weights[i];
		dynamic->charged_uj += result->parts[MODE_DYNAMIC][i];
		if (!shared)
			continue;
		idle->parties += input->idle_weights[i] > 0;
		idle->weight += input->idle_weights[i];
		idle->charged_uj += result->parts[MODE_IDLE][i];
	}
}

void explanation_note_totals(struct explanation *explanation, const struct ledger *ledger)
{
	const uint64_t *values = ledger_values(ledger, explanation->level, explanation->row);
	const uint64_t *deltas = ledger_deltas(ledger, explanation->level, explanation->row);
	const struct layout *layout = ledger_layout(ledger);

	explanation->total_cpu_ns = values[COLUMN_CPU];
	explanation->cpu_ns = deltas ? deltas[COLUMN_CPU] : 0;
	for (uint32_t z = 0; z < explanation->zone_count; z++) {
		struct explained_zone *zone = &explanation->zone[z];

		zone->counter_uj = 0;
		for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++)
			zone->counter_uj += ledger_node_value(ledger, z, mode);
	}
	explanation->account_count = layout->account_count;
	for (uint32_t i = 0; i < layout->account_count; i++) {
		struct explained_account *account = &explanation->account[i];

		*account = (struct explained_account){ .zone = *layout_account_zone(layout, i),
						       .zones = layout->accounts[i].zones };
		for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++)
			account->total_uj[mode] = account_value(&layout->accounts[i], mode, values);
	}
}
