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

static uint64_t row_uj(const struct books *books, enum zone_quality quality, bool with_idle,
		       const uint64_t *deltas)
{
	const struct layout *layout = ledger_layout(books->ledger);
	uint64_t sum = 0;

	for (uint32_t a = 0; a < layout->account_count; a++) {
		const struct account *account = &layout->accounts[a];

		if (!counts(books, account, quality))
			continue;
		sum += with_idle ? account_sum(account, deltas)
				 : account_value(account, MODE_DYNAMIC, deltas);
	}
	return sum;
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
		struct share_amounts amounts = {
			.energy_uj = deltas ? row_uj(books, quality, energy->with_idle, deltas) : 0,
			.cpu_ns = deltas ? deltas[COLUMN_CPU] : 0,
		};

		energy->processes_uj += amounts.energy_uj;
		if (!deltas ||
		    !passes(&energy->filter,
			    ledger_container_at(books->ledger, process->container)->names))
			continue;
		energy->has_matched = true;
		if (amounts.energy_uj || amounts.cpu_ns)
			fn(userdata, process->pid, process->comm, amounts);
	}
}
