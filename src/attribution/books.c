// SPDX-License-Identifier: Apache-2.0
#include "attribution/books.h"

#include <string.h>

#include "energy/total.h"

int books_open(struct books *books, const struct ledger_options *options)
{
	int r = ledger_new(options, &books->ledger);

	books->remainder_at = SIZE_MAX;
	books->accountant.ledger = books->ledger;
	return r;
}

void books_release(struct books *books)
{
	accountant_release(&books->accountant);
	remainder_release(&books->remainder);
	parties_release(&books->parties);
	device_parties_release(&books->devices);
	ledger_free(books->ledger);
}

void books_configure(struct books *books, const struct idle_options *idle,
		     const struct share_options *share, uint64_t settle_ns)
{
	books->idle = idle;
	accountant_configure(&books->accountant, idle, settle_ns);
	accountant_share_by(&books->accountant, share);
}

int books_adopt(struct books *books, const struct zone *zone, int64_t found_ms)
{
	int r = 0;

	if (accountant_shares_idle(&books->accountant, &zone->domain))
		r = ledger_bear_idle(books->ledger);
	if (r == 0)
		r = ledger_add_zone(books->ledger, zone);
	if (r < 0)
		return r;
	accountant_adopt(&books->accountant, zone, books->idle, found_ms);
	return (int)books->accountant.zone_count - 1;
}

static void choose_totals(struct books *books)
{
	struct accountant *accountant = &books->accountant;

	if (books->chosen < accountant->zone_count)
		accountant_choose_total(accountant, books->chosen);
	books->chosen = accountant->zone_count;
}

/* The fixed idle power of the wholes of @kind that make a remainder; ZONE_OTHER: of the parts. */
static uint64_t fixed_idle_uw(const struct books *books, enum zone_kind kind)
{
	const struct remainder *remainder = &books->remainder;
	bool of_wholes = kind != ZONE_OTHER;
	uint64_t sum_uw = 0;

	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];
		const struct zone_account *state = &books->accountant.zones[curve->zone];

		if (state->idle_state == IDLE_FIXED && curve->is_whole == of_wholes &&
		    (!of_wholes || state->zone->kind == kind))
			sum_uw += state->idle_power_uw;
	}
	return sum_uw;
}

/* A fixed idle power of the whole machine is that of its parts and their remainder. */
static void derive_idle(struct books *books)
{
	struct zone_account *zones = books->accountant.zones;
	uint64_t parts_uw = fixed_idle_uw(books, ZONE_OTHER);
	uint64_t whole_uw = fixed_idle_uw(books, ZONE_PLATFORM);

	if (!whole_uw)
		whole_uw = fixed_idle_uw(books, ZONE_PSYS);
	for (size_t z = 0; whole_uw && z < books->accountant.zone_count; z++) {
		if (zones[z].zone->kind == ZONE_OTHER)
			zone_account_derive_idle(&zones[z],
						 whole_uw > parts_uw ? whole_uw - parts_uw : 0);
	}
}

/* Which zones make the remainder now. @ret: its zone, or NULL. 0, or -ENOMEM: as before. */
static int follow_remainder(struct books *books, const struct zone **ret)
{
	struct accountant *accountant = &books->accountant;
	struct remainder_member members[ZONES_MAX];
	int r;

	for (size_t z = 0; z < accountant->zone_count; z++) {
		const struct zone_account *state = &accountant->zones[z];

		members[z] = (struct remainder_member){
			.zone = state->zone,
			.counts = accountant->contenders[z].standing == STANDING_COUNTS,
			.in_total = state->total != TOTAL_NONE,
			.counts_from_ns = state->late ? UINT64_MAX : state->count_from_ns,
		};
	}
	r = remainder_follow(&books->remainder, members, accountant->zone_count,
			     accountant->share.psys_gpus);
	for (size_t z = 0; z < accountant->zone_count; z++)
		accountant->is_part[z] = remainder_has_part(&books->remainder, z);
	derive_idle(books);
	*ret = remainder_exists(&books->remainder) ? remainder_zone(&books->remainder, members)
						   : NULL;
	return r;
}

int books_find_remainder(struct books *books, int64_t found_ms)
{
	const struct zone *zone;
	int r;

	choose_totals(books); /* it is made of what is in them */
	r = follow_remainder(books, &zone);
	if (r < 0 || !zone || books->remainder_at != SIZE_MAX)
		return r;
	r = books_adopt(books, zone, found_ms);
	if (r < 0)
		return r;
	books->remainder_at = (size_t)r;
	return 0;
}

int books_choose_totals(struct books *books)
{
	choose_totals(books);
	return books->accountant.idle_share == IDLE_SHARE_NODE ? 0
							       : ledger_bear_idle(books->ledger);
}

void books_restore(struct books *books, size_t zone, const struct idle_learner *learner)
{
	struct zone_account *account = &books->accountant.zones[zone];

	account->learner = *learner;
	zone_account_configure(account, books->idle);
}

struct zone_progress books_save(const struct books *books, size_t zone)
{
	const struct zone_account *account = &books->accountant.zones[zone];
	const struct contender *contender = &books->accountant.contenders[zone];

	return (struct zone_progress){
		.has_span = account->has_span,
		.late = account->late,
		.has_begun = account->has_begun,
		.held = account->held,
		.count_from_ns = account->count_from_ns,
		.split_from_ns = account->split_from_ns,
		.standing = contender->standing,
		.rank_begun = contender->has_begun,
		.was_read = contender->was_read,
		.is_due = contender->is_due,
		.is_ready = contender->is_ready,
	};
}

void books_load(struct books *books, size_t zone, const struct zone_progress *progress)
{
	struct zone_account *account = &books->accountant.zones[zone];
	struct contender *contender = &books->accountant.contenders[zone];

	account->has_span = progress->has_span;
	account->late = progress->late;
	account->has_begun = progress->has_begun;
	account->held = progress->held;
	account->count_from_ns = progress->count_from_ns;
	account->split_from_ns = progress->split_from_ns;
	contender->standing = progress->standing;
	contender->has_begun = progress->rank_begun;
	contender->was_read = progress->was_read;
	contender->is_due = progress->is_due;
	contender->is_ready = progress->is_ready;
}

void books_begin(struct books *books, uint64_t now_ns, uint64_t settle_ns)
{
	struct accountant *accountant = &books->accountant;
	const struct zone *zone;

	ledger_begin(books->ledger, now_ns);
	if (settle_ns != accountant->settle_ns)
		accountant_set_settle(accountant, settle_ns);
	accountant_settle_ranks(accountant);
	(void)follow_remainder(books, &zone); /* without memory it goes on as it was */
}

void books_put_span(struct books *books, size_t zone, struct energy_span span)
{
	size_t at = books->span_count;

	while (at > 0 && books->spans[at - 1].zone > zone)
		at--;
	memmove(books->spans + at + 1, books->spans + at,
		(books->span_count - at) * sizeof(*books->spans));
	span.zone = (uint32_t)zone;
	books->spans[at] = span;
	books->span_count++;
}

/* It is known as far as all wholes are that it is made of. */
static void follow_status(struct books *books)
{
	struct zone_status *status = &books->status[books->remainder_at];

	status->state = remainder_exists(&books->remainder) ? ZONE_UP : ZONE_ABSENT;
	status->error = 0;
	for (size_t i = 0; status->state == ZONE_UP && i < books->remainder.count; i++) {
		const struct zone_status *one = &books->status[books->remainder.curves[i].zone];

		if (!books->remainder.curves[i].is_whole)
			continue;
		status->state = one->state;
		status->error = one->error;
	}
	status->errors += status->state != ZONE_UP;
}

void books_advance_remainder(struct books *books)
{
	struct energy_span span;

	if (books->remainder_at == SIZE_MAX)
		return;
	follow_status(books);
	if (!remainder_advance(&books->remainder, books->spans, books->span_count, &span))
		return;
	books->status[books->remainder_at].reads++;
	books_put_span(books, books->remainder_at, span);
}

struct interval books_interval(struct books *books, uint64_t time_ns)
{
	return (struct interval){
		.time_ns = time_ns,
		.status = books->status,
		.spans = books->spans,
		.span_count = books->span_count,
		.parties = &books->parties,
		.devices = &books->devices,
	};
}

void books_book(struct books *books, const struct interval *interval, const uint64_t *counted)
{
	if (counted)
		counters_book(&books->counters, books->ledger, interval->parties, counted,
			      interval->time_ns, books->accountant.settle_ns);
	parties_spread_sockets(interval->parties);
	accountant_book(&books->accountant, interval);
}
