// SPDX-License-Identifier: Apache-2.0
/*
 * Reading holds the lock while it adds up steps (some 100 µs at the most). The writer comes after
 * the interval has been published, so nothing but the next interval could wait for it.
 */
#include "history/history.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "history/history_owners.h"

/* How long the end of the history waits for a source of the total that is read late. */
#define LATE_MAX_NS (120 * NSEC_PER_SEC)

struct history_book {
	struct history_energy energy;
	struct history_cover cover;
};

struct history_zone {
	struct zone zone;
	bool in_total;
	uint64_t read_ns; /* its last reading; 0: none */
	uint64_t node_uj, unattributed_uj[MODE_COUNT];
	uint64_t charged_uj;       /* to rows in the interval that is taken, if in the total */
	struct history_book *book; /* NULL: left out, at the limit or without memory */
};

/* An account of the total in the interval that is taken. */
struct history_charge {
	const struct snapshot_account *account;
	struct history_span span;
	uint64_t left_uj; /* what rows were charged that are no owner in the table */
};

struct history {
	pthread_mutex_t lock;
	uint64_t sequence, now_ns; /* of the last snapshot; 0: none */
	int64_t realtime_ms;
	uint64_t horizon_ns; /* all sources of the total were read then or later */
	struct history_zone *zones;
	uint32_t zone_count, zone_room;
	struct history_owners owners;
	struct history_charge *charges;
	uint32_t charge_count, charge_room;
	struct history_energy other, idle, unattributed, estimated;
	struct history_cover cover;
	uint64_t began_ns;
};

int history_new(struct history **ret)
{
	struct history *history = history_memory_new(sizeof(*history));
	int r;

	if (!history)
		return -ENOMEM;
	r = pthread_mutex_init(&history->lock, NULL);
	if (r) {
		history_memory_free(history, sizeof(*history));
		return -r;
	}
	*ret = history;
	return 0;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	for (uint32_t z = 0; z < history->zone_count; z++) {
		history_memory_free(history->zones[z].book, sizeof(struct history_book));
	}
	history_owners_release(&history->owners);
	free(history->zones);
	free(history->charges);
	(void)pthread_mutex_destroy(&history->lock);
	history_memory_free(history, sizeof(*history));
}

static void advance(struct history *history, uint64_t now_ns)
{
	const struct history_advance advance = history_advance(history->now_ns, now_ns);

	history_energy_advance(&history->other, &advance);
	history_energy_advance(&history->idle, &advance);
	history_energy_advance(&history->unattributed, &advance);
	history_energy_advance(&history->estimated, &advance);
	history_cover_advance(&history->cover, &advance);
	for (uint32_t z = 0; z < history->zone_count; z++) {
		if (!history->zones[z].book)
			continue;
		history_energy_advance(&history->zones[z].book->energy, &advance);
		history_cover_advance(&history->zones[z].book->cover, &advance);
	}
	history_owners_advance(&history->owners, &advance);
}

/* The energy of a zone that is found later counts from its beginning. */
static int adopt_zones(struct history *history, const struct snapshot *snapshot)
{
	if (ARRAY_RESERVE(history->zones, history->zone_room, snapshot->zone_count) < 0)
		return -ENOMEM;
	for (; history->zone_count < snapshot->zone_count; history->zone_count++) {
		struct history_zone *zone = &history->zones[history->zone_count];

		*zone = (struct history_zone){ .zone = snapshot->zones[history->zone_count].zone };
		if (history->zone_count < HISTORY_ZONES_MAX)
			zone->book = history_memory_new(sizeof(*zone->book));
	}
	return 0;
}

static uint64_t sum_unattributed(const struct snapshot_zone *zone, enum energy_mode mode)
{
	uint64_t sum = 0;

	for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		sum += zone->unattributed_uj[mode][reason];
	return sum;
}

/* The time that energy of @span_ns took; 0: as long as the interval. */
static struct history_span span_of(const struct history *history, uint64_t now_ns, uint64_t span_ns)
{
	uint64_t from_ns = span_ns && span_ns < now_ns ? now_ns - span_ns : history->now_ns;

	return (struct history_span){ from_ns < now_ns ? from_ns : now_ns - 1, now_ns };
}

/* Adds the energy of a zone, and of what no row was charged. */
static void take_zone(struct history *history, struct history_zone *zone,
		      const struct snapshot_zone *now, uint64_t now_ns)
{
	uint64_t node_uj = now->node_uj[MODE_DYNAMIC] + now->node_uj[MODE_IDLE];
	uint64_t idle_uj = sum_unattributed(now, MODE_IDLE);
	uint64_t dynamic_uj = sum_unattributed(now, MODE_DYNAMIC);
	uint64_t used = node_uj - zone->node_uj, idle = idle_uj - zone->unattributed_uj[MODE_IDLE];
	uint64_t unattributed = dynamic_uj - zone->unattributed_uj[MODE_DYNAMIC];
	struct history_span span = span_of(history, now_ns, now->span_ns);

	zone->node_uj = node_uj;
	zone->unattributed_uj[MODE_IDLE] = idle_uj;
	zone->unattributed_uj[MODE_DYNAMIC] = dynamic_uj;
	zone->in_total = now->total != TOTAL_NONE;
	zone->charged_uj = zone->in_total ? used - idle - unattributed : 0;
	if (!history->sequence)
		return;
	if (zone->book) {
		history_energy_add(&zone->book->energy, span, used);
		if (now->span_ns)
			history_cover_add(&zone->book->cover, span);
	}
	if (now->span_ns)
		zone->read_ns = now_ns;
	if (!zone->in_total)
		return;
	history_energy_add(&history->idle, span, idle);
	history_energy_add(&history->unattributed, span, unattributed);
	if (now->zone.quality == QUALITY_ESTIMATED)
		history_energy_add(&history->estimated, span, used);
}

static bool is_of_account(const struct snapshot *snapshot, const struct snapshot_account *account,
			  uint32_t z)
{
	return z == account->first_zone ||
	       (!snapshot->by_zone && zone_are_alike(&snapshot->zones[z].zone,
						     &snapshot->zones[account->first_zone].zone));
}

/* The accounts of the total, each with what its rows were charged. 0 or -ENOMEM. */
static int take_accounts(struct history *history, const struct snapshot *snapshot, uint64_t now_ns)
{
	history->charge_count = 0;
	if (ARRAY_RESERVE(history->charges, history->charge_room, snapshot->account_count) < 0)
		return -ENOMEM;
	for (uint32_t a = 0; a < snapshot->account_count; a++) {
		const struct snapshot_account *account = &snapshot->accounts[a];
		struct history_charge *charge = &history->charges[history->charge_count];

		if (snapshot->zones[account->first_zone].total == TOTAL_NONE)
			continue;
		*charge = (struct history_charge){
			.account = account,
			.span = span_of(history, now_ns, account->span_ns),
		};
		for (uint32_t z = 0; z < snapshot->zone_count; z++) {
			if (is_of_account(snapshot, account, z))
				charge->left_uj += history->zones[z].charged_uj;
		}
		history->charge_count++;
	}
	return 0;
}

static uint64_t charged_uj(const struct history_charge *charge, const uint64_t *deltas)
{
	uint64_t sum = 0;

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		if (charge->account->column[mode] != COLUMN_NONE)
			sum += deltas[charge->account->column[mode]];
	}
	return sum;
}

static void charge_owner(struct history *history, struct history_owner *owner,
			 const uint64_t *deltas)
{
	for (uint32_t i = 0; i < history->charge_count; i++) {
		struct history_charge *charge = &history->charges[i];
		uint64_t energy_uj = charged_uj(charge, deltas);

		/* More than all were charged: rows of an interval that was not published. */
		if (!energy_uj || energy_uj > charge->left_uj)
			continue;
		history_energy_add(owner->energy, charge->span, energy_uj);
		charge->left_uj -= energy_uj;
	}
}

static void add_owner(struct history *history, const struct series_labels *labels,
		      uint64_t power_uw, uint64_t now_ns)
{
	const struct history_newcomer newcomer = { labels, power_uw, history->now_ns };

	history_owners_add(&history->owners, &newcomer, now_ns, &history->other);
}

/* Rows that come into the table while it has room, and one larger than what it has. */
static void take_owners(struct history *history, const struct snapshot *snapshot, uint64_t now_ns)
{
	const struct snapshot_table *table = &snapshot->level[LEVEL_CONTAINER];
	const struct series_labels *largest = NULL;
	uint64_t largest_uj = 0, span_ns = now_ns - history->now_ns;

	for (size_t i = 0; i < table->count; i++) {
		const uint64_t *deltas = &table->deltas[i * snapshot->columns];
		uint64_t energy_uj = 0;

		for (uint32_t c = 0; c < history->charge_count; c++)
			energy_uj += charged_uj(&history->charges[c], deltas);
		if (!energy_uj || history_owners_find(&history->owners, table->rows[i].labels))
			continue;
		if (history->owners.count < HISTORY_OWNERS_MAX) {
			add_owner(history, table->rows[i].labels, 0, now_ns);
		} else if (energy_uj > largest_uj) {
			largest = table->rows[i].labels;
			largest_uj = energy_uj;
		}
	}
	if (largest)
		add_owner(history, largest, muldiv_u64(largest_uj, NSEC_PER_SEC, span_ns), now_ns);
}

static void charge_owners(struct history *history, const struct snapshot *snapshot)
{
	const struct snapshot_table *table = &snapshot->level[LEVEL_CONTAINER];

	for (size_t i = 0; i < table->count; i++) {
		struct history_owner *owner =
			history_owners_find(&history->owners, table->rows[i].labels);

		if (owner)
			charge_owner(history, owner, &table->deltas[i * snapshot->columns]);
	}
	for (uint32_t i = 0; i < history->charge_count; i++)
		history_energy_add(&history->other, history->charges[i].span,
				   history->charges[i].left_uj);
}

/* The time of the total that is known now, and how far all sources of it have been read. */
static void follow_readings(struct history *history, const struct snapshot *snapshot,
			    uint64_t now_ns)
{
	uint64_t longest_ns = 0;

	history->horizon_ns = now_ns;
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];
		uint64_t read_ns = history->zones[z].read_ns;

		if (zone->total == TOTAL_NONE || zone->ended || !zone->has_begun ||
		    zone->state != ZONE_UP)
			continue;
		longest_ns = zone->span_ns > longest_ns ? zone->span_ns : longest_ns;
		if (read_ns < history->horizon_ns && now_ns - read_ns < LATE_MAX_NS)
			history->horizon_ns = read_ns;
	}
	if (snapshot->power && snapshot->power->is_known && history->sequence) {
		struct history_span span = span_of(history, now_ns, longest_ns);

		if (span.from_ns > history->now_ns)
			span.from_ns = history->now_ns;
		history_cover_add(&history->cover, span);
	}
}

static void take(struct history *history, const struct snapshot *snapshot, uint64_t now_ns)
{
	if (adopt_zones(history, snapshot) < 0)
		return;
	if (history->sequence)
		advance(history, now_ns);
	else
		history->began_ns = now_ns;
	for (uint32_t z = 0; z < snapshot->zone_count; z++)
		take_zone(history, &history->zones[z], &snapshot->zones[z], now_ns);
	if (history->sequence && take_accounts(history, snapshot, now_ns) == 0) {
		take_owners(history, snapshot, now_ns);
		charge_owners(history, snapshot);
	}
	follow_readings(history, snapshot, now_ns);
	history->sequence = snapshot->sequence;
	history->now_ns = now_ns;
	history->realtime_ms = snapshot->realtime_ms;
}

void history_note(struct history *history, const struct snapshot *snapshot, uint64_t boottime_ns)
{
	if (!snapshot)
		return;
	(void)pthread_mutex_lock(&history->lock);
	if (snapshot->sequence != history->sequence && boottime_ns > history->now_ns)
		take(history, snapshot, boottime_ns);
	(void)pthread_mutex_unlock(&history->lock);
}

/* The steps that @window can have. */
static struct history_range choose_range(const struct history *history,
					 const struct history_window *window)
{
	uint64_t step_ns = window->step_s * NSEC_PER_SEC;
	uint64_t width_ns = (window->seconds > HISTORY_HOUR_S ? HISTORY_COARSE_S : HISTORY_FINE_S) *
			    NSEC_PER_SEC;
	uint64_t kept =
		window->seconds > HISTORY_HOUR_S ? HISTORY_COARSE_STEPS : HISTORY_FINE_STEPS;
	uint64_t now = history->now_ns / width_ns, end = history->horizon_ns / step_ns;
	uint64_t oldest_ns = now >= kept ? (now - kept + 1) * width_ns : 0;
	uint64_t first = end - window->seconds / window->step_s;

	if (oldest_ns < history->began_ns)
		oldest_ns = history->began_ns;
	if (first > end || first * step_ns < oldest_ns)
		first = (oldest_ns + step_ns - 1) / step_ns;
	return (struct history_range){
		.first = first,
		.count = first < end ? (uint32_t)(end - first) : 0,
		.width_s = window->step_s,
	};
}

/* One piece of memory for all that is shown. 0 or -ENOMEM. */
static int reserve_view(const struct history *history, struct history_view *view)
{
	size_t points = view->range.count + 1; /* never of size 0 */
	size_t sums = 5 + view->zones + history->owners.count;
	uint64_t *sum =
		calloc(points, sums * sizeof(uint64_t) + (1 + view->zones) * sizeof(uint32_t));
	uint32_t *cover;

	if (!sum)
		return -ENOMEM;
	view->memory = sum;
	cover = (uint32_t *)(void *)(sum + points * sums);
	view->total_uj = sum;
	view->estimated_uj = sum += points;
	view->idle_uj = sum += points;
	view->unattributed_uj = sum += points;
	view->other_uj = sum += points;
	view->cover_ms = cover;
	for (uint32_t z = 0; z < view->zones; z++) {
		view->zone[z].energy_uj = sum += points;
		view->zone[z].cover_ms = cover += points;
	}
	for (uint32_t i = 0; i < history->owners.count; i++)
		view->owner[i].energy_uj = sum += points;
	return 0;
}

static void view_zones(const struct history *history, struct history_view *view, bool coarse)
{
	uint32_t shown = 0;

	for (uint32_t z = 0; z < history->zone_count && shown < view->zones; z++) {
		const struct history_zone *zone = &history->zones[z];
		struct history_zone_view *to = &view->zone[shown];

		if (!zone->book)
			continue;
		(void)memccpy(to->kind, zone_kind_name(zone->zone.kind), '\0',
			      sizeof(to->kind) - 1);
		memcpy(to->instance, zone->zone.instance, sizeof(to->instance));
		(void)memccpy(to->source, zone->zone.source, '\0', sizeof(to->source) - 1);
		to->quality = zone->zone.quality;
		to->in_total = zone->in_total;
		history_energy_read(&zone->book->energy, &view->range, coarse, to->energy_uj);
		history_cover_read(&zone->book->cover, &view->range, coarse, to->cover_ms);
		shown++;
	}
}

struct sized_owner {
	uint64_t energy_uj;
	uint32_t owner;
};

static int largest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct sized_owner *)a)->energy_uj;
	uint64_t y = ((const struct sized_owner *)b)->energy_uj;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Returns the sum of all @from. */
static uint64_t add_up(uint64_t *to, const uint64_t *from, uint32_t points)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < points; i++) {
		to[i] += from[i];
		sum += from[i];
	}
	return sum;
}

/* The largest owners of the time that is shown; the energy of all others is added to `other`. */
static void view_owners(const struct history *history, struct history_view *view, uint32_t limit,
			bool coarse)
{
	struct sized_owner sizes[HISTORY_OWNERS_MAX] = { { 0 } };

	for (uint32_t i = 0; i < history->owners.count; i++) {
		uint64_t *energy_uj = view->owner[i].energy_uj;

		history_energy_read(history->owners.list[i].energy, &view->range, coarse,
				    energy_uj);
		sizes[i] =
			(struct sized_owner){ add_up(view->total_uj, energy_uj, view->range.count),
					      i };
	}
	qsort(sizes, history->owners.count, sizeof(*sizes), largest_first);
	for (uint32_t i = 0; i < history->owners.count; i++) {
		const struct history_owner *owner = &history->owners.list[sizes[i].owner];
		struct history_owner_view *to = &view->owner[view->owners];

		if (i >= limit || !sizes[i].energy_uj)
			continue;
		memcpy(to->name, owner->name, sizeof(to->name));
		memcpy(to->namespace, owner->namespace, sizeof(to->namespace));
		memcpy(to->pod, owner->pod, sizeof(to->pod));
		history_energy_read(owner->energy, &view->range, coarse, to->energy_uj);
		view->owners++;
	}
	/* The energy of owners that are not shown is the rest. */
	memcpy(view->other_uj, view->total_uj, view->range.count * sizeof(uint64_t));
	for (uint32_t i = 0; i < view->owners; i++) {
		for (uint32_t p = 0; p < view->range.count; p++)
			view->other_uj[p] -= view->owner[i].energy_uj[p];
	}
}

static void view_sums(const struct history *history, struct history_view *view, bool coarse)
{
	const struct history_range *range = &view->range;
	uint64_t *used = view->estimated_uj; /* for a while */

	history_energy_read(&history->other, range, coarse, used);
	(void)add_up(view->other_uj, used, range->count);
	history_energy_read(&history->idle, range, coarse, view->idle_uj);
	history_energy_read(&history->unattributed, range, coarse, view->unattributed_uj);
	(void)add_up(view->total_uj, used, range->count);
	(void)add_up(view->total_uj, view->idle_uj, range->count);
	(void)add_up(view->total_uj, view->unattributed_uj, range->count);
	history_energy_read(&history->estimated, range, coarse, view->estimated_uj);
	history_cover_read(&history->cover, range, coarse, view->cover_ms);
}

static int read_locked(const struct history *history, const struct history_window *window,
		       struct history_view *view)
{
	bool coarse = window->seconds > HISTORY_HOUR_S;
	uint64_t end_ns;

	if (!history->sequence)
		return -ENODATA;
	view->range = choose_range(history, window);
	for (uint32_t z = 0; z < history->zone_count; z++)
		view->zones += history->zones[z].book != NULL;
	view->left_out_zones = history->zone_count - view->zones;
	if (reserve_view(history, view) < 0)
		return -ENOMEM;
	end_ns = (view->range.first + view->range.count) * window->step_s * NSEC_PER_SEC;
	view->end_ms = history->realtime_ms +
		       ((int64_t)end_ns - (int64_t)history->now_ns) / (int64_t)NSEC_PER_MSEC;
	view_zones(history, view, coarse);
	view_owners(history, view, window->owners, coarse);
	view_sums(history, view, coarse);
	return 0;
}

int history_read(struct history *history, const struct history_window *window,
		 struct history_view *ret)
{
	int r;

	*ret = (struct history_view){ 0 };
	(void)pthread_mutex_lock(&history->lock);
	r = read_locked(history, window, ret);
	(void)pthread_mutex_unlock(&history->lock);
	return r;
}

void history_view_release(struct history_view *view)
{
	free(TAKE_PTR(view->memory));
}
