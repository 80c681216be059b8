// SPDX-License-Identifier: Apache-2.0
#include "kepler/replay_rivals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

#define TICK_NS       (10 * NSEC_PER_MSEC)
#define ACCOUNTS_ROOM 8 /* kinds of zones of a source; more are added as they come */

struct rival_row {
	uint64_t cpu_ns, ticks; /* so far, and at the last poll */
	uint64_t now_ns;        /* of this interval */
	double now_counted[2];  /* instructions, cache misses */
	bool runs;              /* in this interval */
};

struct replay_rivals {
	enum replay_rival rival;
	struct rival_row *rows; /* by row of the ledger */
	double *uj;             /* [row_count][accounts] */
	size_t row_count, row_size, accounts, uj_size;
	uint32_t *running; /* rows of this interval */
	size_t running_count, running_size;
	uint32_t signals;
};

int replay_rivals_new(enum replay_rival rival, struct replay_rivals **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->rival = rival;
	(*ret)->accounts = ACCOUNTS_ROOM;
	return 0;
}

void replay_rivals_free(struct replay_rivals *rivals)
{
	if (!rivals)
		return;
	free(rivals->rows);
	free(rivals->uj);
	free(rivals->running);
	free(rivals);
}

/* Wider rows, for zones that came later. */
static int widen(struct replay_rivals *rivals, size_t accounts)
{
	double *wider = calloc(rivals->row_count * accounts + 1, sizeof(*wider));

	if (!wider)
		return -ENOMEM;
	for (size_t row = 0; row < rivals->row_count; row++)
		memcpy(wider + row * accounts, rivals->uj + row * rivals->accounts,
		       rivals->accounts * sizeof(*wider));
	free(rivals->uj);
	rivals->uj = wider;
	rivals->uj_size = rivals->row_count * accounts + 1;
	rivals->accounts = accounts;
	return 0;
}

static int make_room(struct replay_rivals *rivals, const struct ledger *ledger)
{
	size_t rows = ledger_slots(ledger, LEVEL_PROCESS);
	size_t accounts = ledger_layout(ledger)->account_count;

	if (accounts > rivals->accounts && widen(rivals, accounts * 2) < 0)
		return -ENOMEM;
	if (ARRAY_RESERVE(rivals->rows, rivals->row_size, rows + 1) < 0 ||
	    ARRAY_RESERVE(rivals->uj, rivals->uj_size, (rows + 1) * rivals->accounts) < 0 ||
	    ARRAY_RESERVE(rivals->running, rivals->running_size, rows + 1) < 0)
		return -ENOMEM;
	for (; rivals->row_count < rows; rivals->row_count++) {
		rivals->rows[rivals->row_count] = (struct rival_row){ 0 };
		memset(rivals->uj + rivals->row_count * rivals->accounts, 0,
		       rivals->accounts * sizeof(*rivals->uj));
	}
	return 0;
}

static double counted(const struct recorded_interval *interval, enum signal signal, size_t i)
{
	return interval->signals & SIGNAL_BIT(signal) ? (double)interval->signal[signal][i] : 0;
}

static void collect(struct replay_rivals *rivals, const struct replay_moment *moment)
{
	const struct recorded_interval *interval = moment->interval;

	rivals->running_count = 0;
	for (size_t i = 0; i < interval->party_count; i++) {
		uint32_t row = moment->parties->party[i].process;
		struct rival_row *its;

		if (row == LEDGER_NONE || row >= rivals->row_count)
			continue;
		its = &rivals->rows[row];
		if (!its->runs)
			rivals->running[rivals->running_count++] = row;
		its->runs = true;
		its->now_ns += interval->cpu_ns[i];
		its->now_counted[0] += counted(interval, SIGNAL_INSTRUCTIONS, i);
		its->now_counted[1] += counted(interval, SIGNAL_CACHE_MISSES, i);
	}
}

static void add(struct replay_rivals *rivals, uint32_t row, uint32_t account, double uj)
{
	rivals->uj[row * rivals->accounts + account] += uj;
}

static void share_evenly(struct replay_rivals *rivals, const struct ledger *ledger,
			 uint32_t account, double uj)
{
	size_t living = 0;

	for (uint32_t row = 0; row < rivals->row_count; row++) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		living += process->row.used && (!process->row.ended || rivals->rows[row].runs);
	}
	for (uint32_t row = 0; living && uj > 0 && row < rivals->row_count; row++) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		if (process->row.used && (!process->row.ended || rivals->rows[row].runs))
			add(rivals, row, account, uj / (double)living);
	}
}

/* Which counter a kind of zone is shared by; < 0: CPU time. */
static int counter_of(enum zone_kind kind, const struct recorded_interval *interval)
{
	enum signal signal = kind == ZONE_DRAM ? SIGNAL_CACHE_MISSES : SIGNAL_INSTRUCTIONS;

	return interval->signals & SIGNAL_BIT(signal) ? kind == ZONE_DRAM : -1;
}

static double weight_of(const struct rival_row *row, int counter)
{
	return counter < 0 ? (double)row->now_ns : row->now_counted[counter];
}

static void share_classic(struct replay_rivals *rivals, const struct ledger *ledger,
			  const struct recorded_interval *interval, uint32_t zone)
{
	const struct layout *layout = ledger_layout(ledger);
	enum zone_kind kind = layout->zones[zone].zone->kind;
	uint32_t account = layout->zones[zone].account;
	double uj = (double)ledger_node_delta(ledger, zone, MODE_DYNAMIC), sum = 0;
	int counter = counter_of(kind, interval);

	for (size_t i = 0; i < rivals->running_count; i++)
		sum += weight_of(&rivals->rows[rivals->running[i]], counter);
	share_evenly(rivals, ledger, account,
		     (double)ledger_node_delta(ledger, zone, MODE_IDLE) +
			     (sum > 0 && kind != ZONE_UNCORE && kind != ZONE_OTHER ? 0 : uj));
	if (!(sum > 0) || kind == ZONE_UNCORE || kind == ZONE_OTHER)
		return;
	for (size_t i = 0; i < rivals->running_count; i++) {
		uint32_t row = rivals->running[i];

		add(rivals, row, account, uj * weight_of(&rivals->rows[row], counter) / sum);
	}
}

/* What a poll at the end of the interval shows. */
static uint64_t ticks_of(const struct ledger *ledger, const struct rival_row *its, uint32_t row)
{
	if (ledger_process_at(ledger, row)->row.ended)
		return 0;
	return (its->cpu_ns + its->now_ns) / TICK_NS - its->ticks;
}

static void share_by_ticks(struct replay_rivals *rivals, const struct ledger *ledger,
			   const struct recorded_interval *interval, uint32_t zone)
{
	double uj = (double)ledger_node_delta(ledger, zone, MODE_DYNAMIC) +
		    (double)ledger_node_delta(ledger, zone, MODE_IDLE);
	double all = (double)interval->work.busy_ns / (double)TICK_NS, seen = 0;
	uint32_t account = ledger_layout(ledger)->zones[zone].account;

	for (size_t i = 0; i < rivals->running_count; i++) {
		uint32_t row = rivals->running[i];

		seen += (double)ticks_of(ledger, &rivals->rows[row], row);
	}
	all = seen > all ? seen : all;
	for (size_t i = 0; all > 0 && i < rivals->running_count; i++) {
		uint32_t row = rivals->running[i];

		add(rivals, row, account,
		    uj * (double)ticks_of(ledger, &rivals->rows[row], row) / all);
	}
}

static void end_interval(struct replay_rivals *rivals)
{
	for (size_t i = 0; i < rivals->running_count; i++) {
		struct rival_row *its = &rivals->rows[rivals->running[i]];

		its->cpu_ns += its->now_ns;
		its->ticks = its->cpu_ns / TICK_NS;
		its->now_ns = 0;
		its->now_counted[0] = its->now_counted[1] = 0;
		its->runs = false;
	}
}

int replay_rivals_take(struct replay_rivals *rivals, const struct replay_books *books,
		       const struct replay_moment *moment)
{
	const struct ledger *ledger = replay_books_ledger(books);
	int r = make_room(rivals, ledger);

	if (r < 0)
		return r;
	if (rivals->rival == RIVAL_TRUTH)
		return 0;
	collect(rivals, moment);
	for (uint32_t zone = 0; zone < ledger_zones(ledger); zone++) {
		if (rivals->rival == RIVAL_CLASSIC)
			share_classic(rivals, ledger, moment->interval, zone);
		else
			share_by_ticks(rivals, ledger, moment->interval, zone);
	}
	end_interval(rivals);
	return 0;
}

void replay_rivals_take_truth(struct replay_rivals *rivals, const struct replay_books *books,
			      const struct recorded_truth *truth)
{
	const struct layout *layout = ledger_layout(replay_books_ledger(books));

	if (rivals->rival != RIVAL_TRUTH || truth->zone >= layout->zone_count)
		return;
	for (size_t i = 0; i < truth->count; i++) {
		uint32_t row = replay_books_process(books, truth->process[i]);

		if (row < rivals->row_count)
			add(rivals, row, layout->zones[truth->zone].account,
			    (double)truth->energy_uj[i]);
	}
}

double replay_rivals_process_uj(const struct replay_rivals *rivals, uint32_t process,
				uint32_t account)
{
	if (process >= rivals->row_count || account >= rivals->accounts)
		return 0;
	return rivals->uj[process * rivals->accounts + account];
}
