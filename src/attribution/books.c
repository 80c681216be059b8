// SPDX-License-Identifier: Apache-2.0
#include "attribution/books.h"

#include <string.h>

#include "energy/total.h"

int books_open(struct books *books, const struct ledger_options *options)
{
	int r = ledger_new(options, &books->ledger);

	for (enum zone_quality quality = 0; quality < QUALITY_COUNT; quality++) {
		books->rest[quality].remainder.quality = quality;
		books->rest[quality].at = SIZE_MAX;
	}
	books->accountant.ledger = books->ledger;
	return r;
}

void books_release(struct books *books)
{
	accountant_release(&books->accountant);
	for (enum zone_quality quality = 0; quality < QUALITY_COUNT; quality++)
		remainder_release(&books->rest[quality].remainder);
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

void books_compute(struct books *books, const struct computed_options *options)
{
	books->computed = options;
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
	const struct remainder *remainder = &books->rest[QUALITY_MEASURED].remainder;
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

/*
 * A fixed idle power of the whole machine is the sum over its parts and their remainder, which
 * other books may have found. Estimates report their idle power.
 */
static void derive_idle(struct books *books)
{
	struct zone_account *zones = books->accountant.zones;
	uint64_t parts_uw = fixed_idle_uw(books, ZONE_OTHER);
	uint64_t whole_uw = fixed_idle_uw(books, ZONE_PLATFORM);

	if (!whole_uw)
		whole_uw = fixed_idle_uw(books, ZONE_PSYS);
	for (size_t z = 0; whole_uw && z < books->accountant.zone_count; z++) {
		if (zones[z].zone->kind == ZONE_OTHER && zones[z].zone->quality == QUALITY_MEASURED)
			zone_account_derive_idle(&zones[z],
						 whole_uw > parts_uw ? whole_uw - parts_uw : 0);
	}
}

static void describe_members(const struct books *books,
			     struct remainder_member members[static ZONES_MAX])
{
	const struct accountant *accountant = &books->accountant;

	for (size_t z = 0; z < accountant->zone_count; z++) {
		const struct zone_account *state = &accountant->zones[z];

		members[z] = (struct remainder_member){
			.zone = state->zone,
			.counts = accountant->contenders[z].standing == STANDING_COUNTS,
			.has_ended = accountant_has_ended(accountant, z),
			.in_total = state->total != TOTAL_NONE,
			.counts_from_ns = state->late ? UINT64_MAX : state->count_from_ns,
		};
	}
}

/* Which zones make the remainders now. 0, or -ENOMEM: as before. */
static int follow_remainders(struct books *books, struct remainder_member members[static ZONES_MAX])
{
	struct accountant *accountant = &books->accountant;
	int result = 0;

	describe_members(books, members);
	for (enum zone_quality quality = 0; quality < QUALITY_COUNT; quality++) {
		int r = remainder_follow(&books->rest[quality].remainder, members,
					 accountant->zone_count, accountant->share.psys_gpus);

		result = r < 0 ? r : result;
	}
	for (size_t z = 0; z < accountant->zone_count; z++)
		accountant->is_part[z] =
			remainder_has_part(&books->rest[QUALITY_MEASURED].remainder, z) ||
			remainder_has_part(&books->rest[QUALITY_ESTIMATED].remainder, z);
	derive_idle(books);
	return result;
}

static int find_remainder(struct books *books, struct books_remainder *rest,
			  const struct remainder_member *members, int64_t found_ms)
{
	int r;

	if (rest->at != SIZE_MAX || !remainder_exists(&rest->remainder))
		return 0;
	rest->zone = remainder_zone(&rest->remainder, members);
	r = books_adopt(books, &rest->zone, found_ms);
	if (r < 0)
		return r;
	rest->at = (size_t)r;
	return 0;
}

int books_find_remainders(struct books *books, int64_t found_ms)
{
	struct remainder_member members[ZONES_MAX];
	int r;

	choose_totals(books); /* remainders depend on the totals */
	r = follow_remainders(books, members);
	for (enum zone_quality quality = 0; r == 0 && quality < QUALITY_COUNT; quality++)
		r = find_remainder(books, &books->rest[quality], members, found_ms);
	return r;
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
	struct remainder_member members[ZONES_MAX];

	if (books->computed) /* without memory, what is new waits */
		(void)computed_follow(books->ledger, books->computed, !books->has_begun, now_ns);
	books->has_begun = true;
	ledger_begin(books->ledger, now_ns);
	if (settle_ns != accountant->settle_ns)
		accountant_set_settle(accountant, settle_ns);
	accountant_settle_ranks(accountant);
	(void)follow_remainders(books, members); /* without memory it goes on as it was */
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

/* It is known as far as all wholes are that it is made of. Without a whole, no reading is due. */
static void follow_status(struct books *books, const struct books_remainder *rest)
{
	struct zone_status *status = &books->status[rest->at];

	status->state = remainder_exists(&rest->remainder) ? ZONE_UP : ZONE_ABSENT;
	status->error = 0;
	for (size_t i = 0; status->state == ZONE_UP && i < rest->remainder.count; i++) {
		const struct zone_status *one = &books->status[rest->remainder.curves[i].zone];

		if (!rest->remainder.curves[i].is_whole)
			continue;
		status->state = one->state;
		status->error = one->error;
	}
	status->errors += status->state != ZONE_UP && status->state != ZONE_ABSENT;
}

void books_advance_remainders(struct books *books)
{
	for (enum zone_quality quality = 0; quality < QUALITY_COUNT; quality++) {
		struct books_remainder *rest = &books->rest[quality];
		struct energy_span span;

		if (rest->at == SIZE_MAX)
			continue;
		follow_status(books, rest);
		if (!remainder_advance(&rest->remainder, books->spans, books->span_count, &span))
			continue;
		books->status[rest->at].reads++;
		books_put_span(books, rest->at, span);
	}
}

bool books_has_ended(const struct books *books, size_t zone)
{
	const struct accountant *accountant = &books->accountant;
	const struct zone *own = accountant->zones[zone].zone;
	struct remainder_member members[ZONES_MAX];

	if (own->kind != ZONE_OTHER || accountant_has_ended(accountant, zone))
		return accountant_has_ended(accountant, zone);
	describe_members(books, members);
	return remainder_has_ended(members, accountant->zone_count, own->quality,
				   accountant->share.psys_gpus);
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
		counters_book(books->ledger, interval->parties, counted, interval->time_ns,
			      books->accountant.settle_ns);
	parties_spread_sockets(interval->parties);
	accountant_book(&books->accountant, interval);
	if (books->computed)
		computed_book(books->ledger, &books->accountant, books->computed, interval->time_ns,
			      books->accountant.settle_ns);
}
