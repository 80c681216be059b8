// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/profile_energy.h"

#include <string.h>

#include "energy/total.h"

/* Does the account count, if only accounts of @quality do? */
static bool counts(const struct books *books, const struct account *account,
		   enum zone_quality quality)
{
	const struct zone_account *first = &books->accountant.zones[account->first_zone];

	return first->total != TOTAL_NONE && first->zone->quality == quality &&
	       !zone_kind_info[first->zone->kind].is_device && !account_has_ended(account);
}

static bool any_counts(const struct books *books, enum zone_quality quality)
{
	const struct layout *layout = ledger_layout(books->ledger);

	for (uint32_t a = 0; a < layout->account_count; a++) {
		if (counts(books, &layout->accounts[a], quality))
			return true;
	}
	return false;
}

/* By its name, its id, or the first characters of its id. */
static bool is_named(const struct owner_names *names, enum label_key name, enum label_key id,
		     const char *wanted)
{
	size_t len = strlen(wanted);

	return strcmp(names->text[name], wanted) == 0 ||
	       (len >= 8 && strncmp(names->text[id], wanted, len) == 0);
}

/* A pod also as "namespace/name". */
static bool is_pod(const struct owner_names *names, const char *wanted)
{
	const char *slash = strchr(wanted, '/');
	const char *space = names->text[LABEL_NAMESPACE];

	if (!slash)
		return is_named(names, LABEL_POD_NAME, LABEL_POD_ID, wanted);
	return strlen(space) == (size_t)(slash - wanted) &&
	       strncmp(space, wanted, strlen(space)) == 0 &&
	       strcmp(names->text[LABEL_POD_NAME], slash + 1) == 0;
}

static bool passes(const struct energy_filter *filter, const struct owner_names *names)
{
	if (filter->container &&
	    !is_named(names, LABEL_CONTAINER_NAME, LABEL_CONTAINER_ID, filter->container))
		return false;
	return !filter->pod || is_pod(names, filter->pod);
}

/* The amount of a counter in the interval; 0: rows have no such counter. */
static uint64_t amount_of(const struct books *books, enum signal signal, const uint64_t *deltas)
{
	uint32_t column = layout_find(ledger_layout(books->ledger), &signal_info[signal]);

	return column == COLUMN_NONE ? 0 : deltas[column];
}

/* Dynamic energy by the rule of its zones, idle energy by time. */
static struct share_amounts row_amounts(const struct profile_energy *energy,
					const struct books *books, const uint64_t *deltas)
{
	const struct layout *layout = ledger_layout(books->ledger);
	const struct clock_work work = {
		.cycles = amount_of(books, SIGNAL_CPU_CYCLES, deltas),
		.instructions = amount_of(books, SIGNAL_INSTRUCTIONS, deltas),
	};
	struct share_amounts ret = { .cpu_ns = deltas[COLUMN_CPU] };

	for (uint32_t a = 0; a < layout->account_count; a++) {
		const struct account *account = &layout->accounts[a];
		uint64_t dynamic_uj;

		if (!counts(books, account, energy->quality))
			continue;
		dynamic_uj = account_value(account, MODE_DYNAMIC, deltas);
		sample_clock_divide(books->accountant.zones[account->first_zone].rule, &work,
				    energy->clocks, dynamic_uj, ret.energy_uj);
		if (energy->with_idle)
			ret.energy_uj[SAMPLED_BY_TIME] += account_sum(account, deltas) - dynamic_uj;
	}
	return ret;
}

static void add_node(struct profile_energy *energy, const struct books *books,
		     enum zone_quality quality)
{
	const struct layout *layout = ledger_layout(books->ledger);

	for (uint32_t z = 0; z < layout->zone_count; z++) {
		uint64_t idle_uj;

		if (!counts(books, layout_account_of(layout, z), quality))
			continue;
		idle_uj = ledger_node_delta(books->ledger, z, MODE_IDLE);
		energy->node_uj += ledger_node_delta(books->ledger, z, MODE_DYNAMIC) +
				   (energy->with_idle ? idle_uj : 0);
		energy->idle_uj += idle_uj;
	}
}

void profile_energy_take(struct profile_energy *energy, const struct books *books,
			 profile_energy_fn *fn, void *userdata)
{
	size_t count;
	const uint32_t *touched = ledger_touched(books->ledger, LEVEL_PROCESS, &count);
	enum zone_quality quality;

	if (!energy->is_known)
		energy->quality =
			any_counts(books, QUALITY_MEASURED) ? QUALITY_MEASURED : QUALITY_ESTIMATED;
	quality = energy->quality;
	energy->is_known |= any_counts(books, quality);
	add_node(energy, books, quality);
	for (size_t i = 0; i < count; i++) {
		const struct ledger_process *process = ledger_process_at(books->ledger, touched[i]);
		const uint64_t *deltas = ledger_deltas(books->ledger, LEVEL_PROCESS, touched[i]);
		struct share_amounts amounts;
		uint64_t energy_uj;

		if (!deltas)
			continue;
		amounts = row_amounts(energy, books, deltas);
		energy_uj = share_amounts_uj(&amounts);
		energy->processes_uj += energy_uj;
		if (!passes(&energy->filter,
			    ledger_container_at(books->ledger, process->container)->names))
			continue;
		energy->has_matched = true;
		if (energy_uj || amounts.cpu_ns)
			fn(userdata, process->pid, process->comm, &amounts);
	}
}
