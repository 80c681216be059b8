// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_round.h"

#include <string.h>

#include "base/num.h"
#include "explain/explain_find.h"

/* A process may have started after the pass looked at the clock. */
static int64_t realtime_of(const struct explain_times *times, uint64_t boottime_ns)
{
	return times->now_ms +
	       ((int64_t)boottime_ns - (int64_t)times->boottime_ns) / (int64_t)NSEC_PER_MSEC;
}

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
		answer->error = times->error;
		if (answer->result != EXPLAIN_FOUND)
			continue;
		round->found[round->found_count++] = explanation;
		if (explanation->level == LEVEL_PROCESS)
			answer->start_ms = realtime_of(
				times, ledger_process_at(ledger, explanation->row)->start_ns);
	}
}

void explain_round_note_host(struct explain_round *round, const struct explained_host *host)
{
	for (size_t i = 0; i < round->count; i++)
		round->answers[i]->host = *host;
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

/* The view of the row at @index of its table. */
static void note_series(struct explain_answer *answer, const struct snapshot *snapshot,
			const struct snapshot_table *table, size_t index)
{
	struct explanation *explanation = &answer->explanation;
	const uint64_t *values = table->values + index * snapshot->columns;
	uint64_t used = 0, shown = 0;

	for (uint32_t i = 0; i < explanation->account_count && i < snapshot->account_count; i++) {
		struct explained_account *account = &explanation->account[i];

		for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
			uint32_t column = snapshot->accounts[i].column[mode];

			account->shown_uj[mode] = column == COLUMN_NONE ? 0 : values[column];
			used |= account->total_uj[mode];
			shown |= account->shown_uj[mode];
		}
	}
	answer->series_ms = table->rows[index].created_ms;
	if (used && !shown)
		answer->series = EXPLAIN_SETTLES;
	else
		answer->series = table->rows[index].ended ? EXPLAIN_KEPT : EXPLAIN_SHOWN;
}

static void find_series(struct explain_answer *answer, const struct snapshot *snapshot,
			const struct publisher_view *view)
{
	const struct snapshot_table *table = &snapshot->level[answer->explanation.level];

	for (size_t i = 0; view->labels && i < table->count; i++) {
		if (table->rows[i].labels == view->labels) {
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

static void note_models(struct explain_answer *answer, const struct snapshot *snapshot)
{
	uint32_t count = answer->explanation.zone_count;

	answer->model_count = 0;
	for (uint32_t z = 0; z < count && z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];
		struct explained_model *model = &answer->models[answer->model_count];

		if (!zone->model || answer->model_count == SNAPSHOT_MODELS)
			continue;
		answer->model_count++;
		*model = (struct explained_model){ .zone = z,
						   .error_w = zone->model_error_w,
						   .outside = zone->model_outside > 0 };
		memcpy(model->name, snapshot->node.models[zone->model - 1].name,
		       sizeof(model->name));
	}
}

static void finish(struct explain_answer *answer, const struct snapshot *snapshot,
		   const struct publisher *publisher)
{
	const struct explanation *explanation = &answer->explanation;
	struct publisher_view view;

	answer->series = EXPLAIN_UNPUBLISHED;
	if (!snapshot || answer->result != EXPLAIN_FOUND)
		return;
	view = publisher_look(publisher, explanation->level, explanation->row, explanation->serial);
	answer->sequence = snapshot->sequence;
	answer->is_gone = !view.is_there;
	answer->counts_uj = view.counts_uj;
	find_series(answer, snapshot, &view);
	note_models(answer, snapshot);
}

void explain_round_end(struct explain_round *round, struct explain_desk *desk,
		       const struct explain_publication *publication, uint64_t now_ns)
{
	const struct publisher_options *options = publication->options;
	const struct snapshot *snapshot = NULL;

	if (!round->count)
		return;
	if (publication->result == 0)
		snapshot = snapshot_get(publication->holder);
	for (size_t i = 0; i < round->count; i++) {
		struct explain_answer *answer = round->answers[i];

		answer->min_uj = options->min_uj;
		answer->settle_ns = options->settle_ns;
		answer->keep_ns = options->keep_ns;
		finish(answer, snapshot, publication->publisher);
	}
	snapshot_put(publication->holder, snapshot);
	explain_desk_give(desk, now_ns);
	round->count = round->found_count = 0;
}
