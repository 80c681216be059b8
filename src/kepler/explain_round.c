// SPDX-License-Identifier: Apache-2.0
#include "kepler/explain_round.h"

#include <string.h>

#include "base/num.h"
#include "kepler/explain_find.h"

void explain_round_begin(struct explain_round *round, struct explain_desk *desk,
			 const struct ledger *ledger, const struct explain_times *times)
{
	round->count = desk ? explain_desk_take(desk, round->answers) : 0;
	round->found_count = 0;
	for (size_t i = 0; i < round->count; i++) {
		struct explain_answer *answer = round->answers[i];
		struct explanation *explanation = &answer->explanation;

		explain_find(ledger, answer);
		answer->now_ms = times->now_ms;
		explanation->now_ns = times->now_ns;
		explanation->span_ns = times->span_ns;
		explanation->node_cpu_ns = times->busy_ns;
		if (answer->result != EXPLAIN_FOUND)
			continue;
		round->found[round->found_count++] = explanation;
		if (explanation->level == LEVEL_PROCESS)
			answer->start_ms =
				times->now_ms -
				(int64_t)((times->boottime_ns -
					   ledger_process_at(ledger, explanation->row)->start_ns) /
					  NSEC_PER_MSEC);
	}
}

void explain_round_book(struct explain_round *round, struct ledger *ledger)
{
	if (round->found_count)
		ledger_close(ledger); /* as what publishes does: groups have their sums */
	for (size_t i = 0; i < round->count; i++) {
		struct explain_answer *answer = round->answers[i];
		const struct explanation *explanation = &answer->explanation;

		if (answer->result != EXPLAIN_FOUND)
			continue;
		explanation_note_totals(&answer->explanation, ledger);
		if (explanation->level == LEVEL_PROCESS)
			answer->ended = ledger_process_at(ledger, explanation->row)->row.ended;
	}
}

/* By which labels a series of this level is told from others of it. */
static uint32_t keys_of(enum level level)
{
	switch (level) {
	case LEVEL_PROCESS:
	case LEVEL_CONTAINER:
		return LABELS_CONTAINER;
	case LEVEL_POD:
		return LABEL_BIT(LABEL_NAMESPACE) | LABEL_BIT(LABEL_POD_NAME) |
		       LABEL_BIT(LABEL_POD_ID);
	case LEVEL_VM:
		return LABELS_VM & ~LABEL_BIT(LABEL_HYPERVISOR);
	case LEVEL_NAMESPACE:
	case LEVEL_COUNT:
		break;
	}
	return LABEL_BIT(LABEL_NAMESPACE);
}

static bool is_shown_by(const struct explain_answer *answer, const struct series_labels *labels)
{
	uint32_t keys = keys_of(answer->explanation.level);

	if (answer->explanation.level == LEVEL_PROCESS &&
	    (labels->pid != answer->pid ||
	     memcmp(labels->command, answer->comm, sizeof(labels->command)) != 0))
		return false;
	for (size_t key = 0; key < LABEL_KEY_COUNT; key++) {
		if ((keys & LABEL_BIT(key)) &&
		    strcmp(labels->names->text[key], answer->names[key]) != 0)
			return false;
	}
	return true;
}

/* What is shown of the row that is at @index of its table. */
static void note_series(struct explain_answer *answer, const struct snapshot *snapshot,
			const struct snapshot_table *table, size_t index)
{
	struct explanation *explanation = &answer->explanation;
	const uint64_t *values = table->values + index * snapshot->columns;
	uint64_t used = 0, shown = 0;

	for (uint32_t z = 0; z < explanation->zone_count && z < snapshot->zone_count; z++) {
		struct explained_zone *zone = &explanation->zone[z];

		for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
			zone->shown_uj[mode] = values[ledger_column(z, mode)];
			used |= zone->total_uj[mode];
			shown |= zone->shown_uj[mode];
		}
	}
	answer->series_ms = table->rows[index].created_ms;
	if (used && !shown)
		answer->series = EXPLAIN_SETTLES;
	else
		answer->series = table->rows[index].ended ? EXPLAIN_KEPT : EXPLAIN_SHOWN;
}

static void find_series(struct explain_answer *answer, const struct snapshot *snapshot)
{
	const struct snapshot_table *table = &snapshot->level[answer->explanation.level];

	answer->sequence = snapshot->sequence;
	for (size_t i = 0; i < table->count; i++) {
		if (is_shown_by(answer, table->rows[i].labels)) {
			note_series(answer, snapshot, table, i);
			return;
		}
	}
	if (answer->waiting)
		answer->series = EXPLAIN_WAITS;
	else if (answer->explanation.level == LEVEL_PROCESS)
		answer->series = EXPLAIN_IN_OTHER;
	else
		answer->series = EXPLAIN_HIDDEN;
}

void explain_round_end(struct explain_round *round, struct explain_desk *desk,
		       struct snapshot_holder *holder, const struct publisher_options *options,
		       uint64_t now_ns)
{
	const struct snapshot *snapshot;

	if (!round->count)
		return;
	snapshot = snapshot_get(holder);
	for (size_t i = 0; i < round->count; i++) {
		struct explain_answer *answer = round->answers[i];

		answer->min_uj = options->min_uj;
		answer->settle_ns = options->settle_ns;
		answer->keep_ns = options->keep_ns;
		answer->series = EXPLAIN_HIDDEN;
		if (snapshot && answer->result == EXPLAIN_FOUND)
			find_series(answer, snapshot);
	}
	snapshot_put(holder, snapshot);
	explain_desk_give(desk, now_ns);
	round->count = round->found_count = 0;
}
