// SPDX-License-Identifier: Apache-2.0
#include "engine/party_entry.h"

#include "attribution/counters.h"
#include "base/map.h"
#include "base/num.h"
#include "engine/owner.h"

static uint32_t container_of(const struct party_entry *entry, const struct process_ref *process)
{
	const struct ledger_owner owner =
		ledger_owner_of(identity_resolve(entry->identities, process));

	return ledger_container(entry->ledger, &owner);
}

/*
 * A process that ran, or caused something that a signal counts, becomes a party. Returns whether
 * this one did. In the baseline nothing is charged, but every owner gets its row, so that its
 * series exist from the first snapshot on; with an equal share of idle energy every process does,
 * too.
 */
static bool enter_sample(const struct party_entry *entry, const struct activity_sample *sample,
			 const uint64_t *socket_ns, bool has_signals)
{
	const struct process_ref ref = process_ref_of(sample);
	uint32_t container, process = LEDGER_NONE;
	bool has_work = sample->cpu_ns > 0 || has_signals;
	bool wanted = has_work || entry->sleepers_count;

	if (!wanted && entry->has_begun)
		return false;
	container = container_of(entry, &ref);
	if (!wanted)
		return false;
	process = ledger_process(entry->ledger, sample->key.pid, sample->key.start_ns, sample->comm,
				 container);
	if (entry->users && process != LEDGER_NONE && sample->flags & ACTIVITY_USER)
		process_users_note(entry->users, entry->ledger, process, sample->user);
	if (!has_work)
		return false;
	parties_add(entry->parties, process, container, sample->cpu_ns, socket_ns);
	return true;
}

void party_entry_name_waiting(const struct party_entry *entry)
{
	uint32_t left = ledger_waiting(entry->ledger);

	for (uint32_t row = 0; left && row < ledger_slots(entry->ledger, LEVEL_CONTAINER); row++) {
		const struct ledger_container *waiting = ledger_container_at(entry->ledger, row);
		const struct identity *identity;

		if (!waiting->row.used || !waiting->waiting)
			continue;
		left--;
		identity =
			identity_find(entry->identities, waiting->names->text[LABEL_CONTAINER_ID]);
		if (identity && (!identity->waiting || identity->has_pod_names)) {
			const struct ledger_owner owner = ledger_owner_of(identity);

			(void)ledger_container(entry->ledger, &owner);
		}
	}
}

static void enter_sleeper(void *userdata, const struct activity_sample *sample)
{
	(void)enter_sample(userdata, sample, NULL, false);
}

void party_entry_take_sleepers(const struct party_entry *entry, struct activity_reader *activity)
{
	struct party_entry own = *entry;

	activity_visit(activity, enter_sleeper, &own);
}

/* True if sample @i has caused anything that rows count, even without CPU time. */
static bool has_signals(const struct activity *activity, size_t i)
{
	bool has = false;

	for (uint32_t left = activity->signals & SIGNALS_COUNTERS; left && !has; left &= left - 1) {
		const uint64_t *amounts = activity->signal[__builtin_ctz(left)];

		has = amounts && amounts[i];
	}
	return has;
}

/* Adds the signals of sample @i, which is the most recently added party. */
static void enter_signals(const struct party_entry *entry, const struct activity *activity,
			  size_t i)
{
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (activity->signal[signal] && activity->signal[signal][i])
			parties_add_signal(entry->parties, signal, activity->signal[signal][i]);
	}
}

/* They ran nothing of their own: what they have caused is their container's. */
static void enter_cgroup_signals(const struct party_entry *entry, const struct cgroup_signals *its,
				 const uint64_t *places)
{
	const struct process_ref unknown = { .cgroup_id = its->cgroup_id, .comm = "" };

	parties_add(entry->parties, LEDGER_NONE, container_of(entry, &unknown), 0, NULL);
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (its->amount[signal])
			parties_add_signal(entry->parties, signal, its->amount[signal]);
	}
	if (places)
		parties_add_held(entry->parties, places);
}

static void enter_samples(const struct party_entry *entry, const struct activity *activity,
			  uint32_t sockets)
{
	const size_t count = activity->count;

	for (size_t i = 0; i < count; i++) {
		if (i + MAP_AHEAD < count) {
			const struct process_key *next = &activity->samples[i + MAP_AHEAD].key;

			ledger_prefetch_process(entry->ledger, next->pid, next->start_ns);
		}
		if (enter_sample(entry, &activity->samples[i],
				 sockets ? activity->socket_ns + i * sockets : NULL,
				 has_signals(activity, i)) &&
		    activity->signals)
			enter_signals(entry, activity, i);
	}
}

int party_entry_take(const struct party_entry *entry, const struct activity *activity)
{
	uint32_t sockets = activity->socket_ns ? activity->sockets : 0;
	const uint64_t *places = sockets <= PLACES_MAX ? activity->cgroup_places : NULL;
	int r;

	parties_begin(entry->parties, sockets);
	parties_know(entry->parties, activity->signals);
	if (places)
		parties_know_held(entry->parties);
	r = parties_reserve(entry->parties, activity->count + activity->dropped_cgroup_count +
						    activity->cgroup_signal_count);
	if (r < 0)
		return r;
	enter_samples(entry, activity, sockets);
	for (size_t i = 0; i < activity->dropped_cgroup_count; i++) {
		const struct dropped_cgroup *dropped = &activity->dropped_cgroups[i];
		const struct process_ref unknown = { .cgroup_id = dropped->cgroup_id, .comm = "" };

		parties_add(entry->parties, LEDGER_NONE, container_of(entry, &unknown),
			    dropped->cpu_ns, NULL);
		if (activity->signals & SIGNAL_BIT(SIGNAL_FREQUENCY_TIME))
			parties_add_signal(
				entry->parties, SIGNAL_FREQUENCY_TIME,
				muldiv_u64(dropped->cpu_ns, activity->mean_khz, NSEC_PER_MSEC));
	}
	for (size_t i = 0; i < activity->cgroup_signal_count; i++)
		enter_cgroup_signals(entry, &activity->cgroup_signals[i],
				     places ? places + i * sockets : NULL);
	return 0;
}

void party_entry_end_processes(struct ledger *ledger, const struct activity *activity,
			       struct process_trees *trees)
{
	for (size_t i = 0; i < activity->count; i++) {
		const struct activity_sample *sample = &activity->samples[i];
		const struct tree_id id = { sample->key.pid, sample->key.start_ns };
		uint32_t process;

		if (!(sample->flags & ACTIVITY_ENDED) || (trees && process_trees_hold(trees, &id)))
			continue;
		process = ledger_find_process(ledger, sample->key.pid, sample->key.start_ns);
		if (process != LEDGER_NONE)
			ledger_end_process(ledger, process);
	}
}
