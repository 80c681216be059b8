// SPDX-License-Identifier: Apache-2.0
/*
 * Slices are lists, for few of the ledger's rows ran in any one interval; a row may be in a slice
 * several times. gap_collect() makes one of them again.
 */
#include "attribution/work_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

#define FORGET_REACHES 10

static void release_slices(struct work_history *history, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		history->entries -= history->slices[i].count;
		free(history->slices[i].entries);
	}
	history->count -= count;
	memmove(history->slices, history->slices + count,
		history->count * sizeof(history->slices[0]));
}

static void forget(struct work_history *history)
{
	release_slices(history, history->count);
	history->reach_ns = 0;
}

struct work_history *work_histories_find(const struct work_histories *histories, uint32_t place,
					 enum share_rule rule)
{
	for (size_t i = 0; i < histories->count; i++) {
		struct work_history *history = &histories->history[i];

		if (history->reach_ns && history->place == place && history->rule == rule)
			return history;
	}
	return NULL;
}

static struct work_history *take_unused(struct work_histories *histories)
{
	for (size_t i = 0; i < histories->count; i++) {
		if (!histories->history[i].reach_ns)
			return &histories->history[i];
	}
	if (histories->count == HISTORIES_MAX)
		return NULL;
	if (!histories->history)
		histories->history = calloc(HISTORIES_MAX, sizeof(*histories->history));
	return histories->history ? &histories->history[histories->count++] : NULL;
}

struct work_history *work_histories_find_covering(const struct work_histories *histories,
						  uint32_t place, enum share_rule rule,
						  uint64_t from_ns, uint64_t to_ns)
{
	struct work_history *found = NULL;

	for (size_t i = 0; i < histories->count; i++) {
		struct work_history *history = &histories->history[i];

		if (history->reach_ns && history->place == place &&
		    work_history_covers(history, from_ns, to_ns) &&
		    (!found || history->rule == rule))
			found = history;
	}
	return found;
}

void work_histories_want(struct work_histories *histories, uint32_t place, enum share_rule rule,
			 uint64_t reach_ns, uint64_t now_ns)
{
	struct work_history *history = work_histories_find(histories, place, rule);

	if (!history)
		history = take_unused(histories);
	if (!history)
		return;
	if (reach_ns > HISTORY_REACH_MAX_NS)
		reach_ns = HISTORY_REACH_MAX_NS;
	history->place = place;
	history->rule = rule;
	history->asked_ns = now_ns;
	if (history->reach_ns < reach_ns)
		history->reach_ns = reach_ns;
}

void work_histories_release(struct work_histories *histories)
{
	for (size_t i = 0; i < histories->count; i++)
		forget(&histories->history[i]);
	free(histories->history);
	*histories = (struct work_histories){ 0 };
}

/* Releases the slices that end before its reach and, if there is no room, the oldest ones. */
static void release_oldest(struct work_history *history, size_t more, uint64_t now_ns)
{
	size_t count = 0, entries = history->entries;

	while (count < history->count) {
		const struct history_slice *slice = &history->slices[count];

		if (now_ns - slice->to_ns <= history->reach_ns &&
		    history->count - count < HISTORY_SLICES_MAX &&
		    entries + more <= HISTORY_ENTRIES_MAX)
			break;
		entries -= slice->count;
		count++;
	}
	release_slices(history, count);
}

/* The last slice, while it is short, else a new one. */
static struct history_slice *open_slice(struct work_history *history, uint64_t from_ns,
					uint64_t to_ns, const struct attribution_input *work)
{
	uint64_t most_ns = history->reach_ns / HISTORY_SLICES;
	struct history_slice *last = history->count ? &history->slices[history->count - 1] : NULL;

	if (last && last->to_ns == from_ns && last->idle_share == work->idle_share &&
	    last->rule == work->rule && to_ns - last->from_ns <= most_ns) {
		last->to_ns = to_ns;
		return last;
	}
	last = &history->slices[history->count++];
	*last = (struct history_slice){ .from_ns = from_ns,
					.to_ns = to_ns,
					.rule = work->rule,
					.idle_share = work->idle_share };
	return last;
}

static void add_entry(struct history_slice *slice, const struct ledger *ledger,
		      const struct party *party, const struct history_entry *weights)
{
	struct history_entry *entry = &slice->entries[slice->count++];

	*entry = *weights;
	entry->party = *party;
	entry->container_serial = ledger_container_at(ledger, party->container)->row.serial;
	if (party->process != LEDGER_NONE)
		entry->process_serial = ledger_process_at(ledger, party->process)->row.serial;
}

void work_history_add(struct work_history *history, const struct ledger *ledger,
		      const struct party *party, const struct attribution_input *work,
		      const struct zone_activity *activity, uint64_t now_ns)
{
	struct history_slice *slice;
	size_t before;

	if (!activity->dt_ns)
		return;
	if (now_ns - history->asked_ns > FORGET_REACHES * history->reach_ns) {
		forget(history);
		return;
	}
	release_oldest(history, work->count, now_ns);
	slice = open_slice(history, now_ns - activity->dt_ns, now_ns, work);
	before = slice->count;
	zone_activity_add(&slice->activity, activity);
	slice->dropped += work->dropped_weight;
	slice->unseen += work->unseen_weight;
	slice->time_dropped += work->time_dropped;
	slice->time_unseen += work->time_unseen;
	/* Without memory the history starts again, because it lacks some of the work. */
	if (work->count > HISTORY_ENTRIES_MAX ||
	    ARRAY_RESERVE(slice->entries, slice->size, before + work->count) < 0) {
		release_slices(history, history->count);
		return;
	}
	for (size_t i = 0; i < work->count; i++) {
		const struct history_entry weights = {
			.dynamic = work->dynamic_weights[i],
			.idle = work->idle_weights ? work->idle_weights[i] : 0,
			.time = work->time_weights ? work->time_weights[i] : 0,
		};

		if (weights.dynamic || weights.idle || weights.time)
			add_entry(slice, ledger, &party[i], &weights);
	}
	history->entries += slice->count - before;
}

bool work_history_covers(const struct work_history *history, uint64_t from_ns, uint64_t to_ns)
{
	return history->count && history->slices[0].from_ns <= from_ns &&
	       history->slices[history->count - 1].to_ns >= to_ns;
}

static bool is_row(const struct level_row *row, uint64_t serial)
{
	return row->used && row->serial == serial;
}

/* The work of a row that is gone belongs to its container, or else has no name. */
static void collect_entry(const struct history_entry *entry, const struct ledger *ledger,
			  const struct attribution_input *whole, struct gap *gap)
{
	const struct zone_activity none = { 0 };
	struct attribution_input work = *whole;
	struct party party = entry->party;

	if (party.process != LEDGER_NONE &&
	    !is_row(&ledger_process_at(ledger, party.process)->row, entry->process_serial))
		party.process = LEDGER_NONE;
	if (is_row(&ledger_container_at(ledger, party.container)->row, entry->container_serial)) {
		work.count = 1;
	} else {
		work.count = 0;
		work.dropped_weight = *work.dynamic_weights;
		work.time_dropped = *work.time_weights;
	}
	gap_collect(gap, ledger, &party, &work, &none);
}

static void collect_slice(const struct history_slice *slice, const struct ledger *ledger,
			  uint64_t part_ns, enum idle_share share, struct gap *gap)
{
	uint64_t whole_ns = slice->to_ns - slice->from_ns, dynamic, idle, time;
	const struct attribution_input sums = {
		.rule = slice->rule,
		.dropped_weight = muldiv_u64(slice->dropped, part_ns, whole_ns),
		.unseen_weight = muldiv_u64(slice->unseen, part_ns, whole_ns),
		.time_dropped = muldiv_u64(slice->time_dropped, part_ns, whole_ns),
		.time_unseen = muldiv_u64(slice->time_unseen, part_ns, whole_ns),
		.idle_share = share,
	};
	const struct zone_activity activity = {
		.dt_ns = part_ns,
		.asleep_ns = muldiv_u64(slice->activity.asleep_ns, part_ns, whole_ns),
		.utilisation = slice->activity.utilisation,
	};
	const struct attribution_input one = {
		.rule = slice->rule,
		.dynamic_weights = &dynamic,
		.time_weights = &time,
		.idle_weights = &idle,
		.idle_share = share,
	};

	gap_collect(gap, ledger, NULL, &sums, &activity);
	for (size_t i = 0; i < slice->count; i++) {
		const struct history_entry *entry = &slice->entries[i];

		dynamic = muldiv_u64(entry->dynamic, part_ns, whole_ns);
		time = muldiv_u64(entry->time, part_ns, whole_ns);
		idle = slice->idle_share == share ? muldiv_u64(entry->idle, part_ns, whole_ns) : 0;
		collect_entry(entry, ledger, &one, gap);
	}
}

void work_history_collect(const struct work_history *history, const struct ledger *ledger,
			  uint64_t from_ns, uint64_t to_ns, enum idle_share share, struct gap *gap)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct history_slice *slice = &history->slices[i];
		uint64_t begin_ns = from_ns > slice->from_ns ? from_ns : slice->from_ns;
		uint64_t end_ns = to_ns < slice->to_ns ? to_ns : slice->to_ns;

		if (begin_ns < end_ns)
			collect_slice(slice, ledger, end_ns - begin_ns, share, gap);
	}
}
