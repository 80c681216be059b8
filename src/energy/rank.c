// SPDX-License-Identifier: Apache-2.0
#include "energy/rank.h"

#include <string.h>

static bool is_built_in_part(const struct zone *zone)
{
	return zone->rank == RANK_ESTIMATED && !zone_kind_info[zone->kind].is_whole;
}

/* Parts agree with the whole only as far as one model estimates both. */
static bool stands_for(const struct zone *estimate, const struct zone *zone)
{
	if (is_built_in_part(estimate) && zone->rank == RANK_MODEL)
		return true;
	return estimate->quality == QUALITY_ESTIMATED && estimate->rank != RANK_MODEL &&
	       (zone_kind_info[estimate->kind].is_whole || is_built_in_part(estimate)) &&
	       zone->quality == QUALITY_MEASURED && !zone_kind_info[zone->kind].is_device;
}

/* One without an instance is of all there are of the kind. */
static bool count_the_same(const struct zone *a, const struct zone *b)
{
	return a->kind == b->kind &&
	       (!a->instance[0] || !b->instance[0] || strcmp(a->instance, b->instance) == 0);
}

bool rank_are_rivals(const struct zone *a, const struct zone *b)
{
	if (strcmp(a->source, b->source) == 0 && a->rank == b->rank)
		return false;
	return count_the_same(a, b) || stands_for(a, b) || stands_for(b, a);
}

/* Those that have not ended. */
static bool contend(const struct contender *a, const struct contender *b)
{
	return a != b && a->standing != STANDING_ENDED && b->standing != STANDING_ENDED &&
	       rank_are_rivals(a->zone, b->zone);
}

/* @a and @b are of one array: the first one was found first. */
static bool is_better(const struct contender *a, const struct contender *b)
{
	return a->zone->rank != b->zone->rank ? a->zone->rank < b->zone->rank : a < b;
}

void rank_enter(struct contender *contenders, size_t count)
{
	struct contender *entrant = &contenders[count - 1];
	bool is_spare = false;

	entrant->standing = STANDING_COUNTS;
	for (size_t i = 0; i + 1 < count; i++) {
		struct contender *rival = &contenders[i];
		bool counts = rival->standing == STANDING_COUNTS && rival->has_begun;

		if (!contend(rival, entrant))
			continue;
		entrant->standing = STANDING_HELD;
		is_spare |= counts && is_better(rival, entrant);
		if (!counts)
			rival->standing = STANDING_HELD;
	}
	if (is_spare)
		entrant->standing = STANDING_ENDED;
}

static bool may_count(const struct contender *contenders, size_t count, const struct contender *own)
{
	bool has_rival = false;

	for (size_t i = 0; i < count; i++) {
		const struct contender *rival = &contenders[i];

		if (!contend(rival, own))
			continue;
		has_rival = true;
		if (rival->standing == STANDING_COUNTS && (is_better(rival, own) || rival->is_due))
			return false;
	}
	return has_rival ? own->is_ready : own->was_read;
}

static void take_over(struct contender *contenders, size_t count, struct contender *own)
{
	for (size_t i = 0; i < count; i++) {
		if (contend(&contenders[i], own) && is_better(own, &contenders[i]))
			contenders[i].standing = STANDING_ENDED;
	}
	own->standing = STANDING_COUNTS;
	if (own->is_away) /* it was silent: that it did not move meanwhile says nothing */
		own->moved_ns = own->read_ns;
	own->is_away = false;
}

void rank_note_silence(struct contender *contender, uint64_t now_ns)
{
	contender->is_silent = contender->zone->rank == RANK_SHARE && contender->read_ns &&
			       now_ns >= contender->read_ns + RANK_SILENT_NS;
}

bool rank_is_needed(const struct contender *contenders, size_t count, const struct contender *own)
{
	for (size_t i = 0; i < count; i++) {
		if (contenders[i].standing == STANDING_COUNTS && contenders[i].is_silent &&
		    rank_are_rivals(contenders[i].zone, own->zone))
			return own->standing == STANDING_ENDED;
	}
	return false;
}

static bool stands_still(const struct contender *own)
{
	return own->read_ns - own->moved_ns >=
	       (own->has_moved ? RANK_STILL_NS : RANK_NEVER_MOVED_NS);
}

/*
 * Returns true if @own moves, and all that are charged in its place stand still or are silent;
 * there is at least one.
 */
static bool may_replace(const struct contender *contenders, size_t count,
			const struct contender *own)
{
	bool has_rival = false;

	if (own->standing == STANDING_COUNTS || !own->is_ready || !own->has_moved ||
	    own->moved_ns != own->read_ns)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct contender *rival = &contenders[i];

		if (rival->standing != STANDING_COUNTS || !rank_are_rivals(rival->zone, own->zone))
			continue;
		if (!rival->is_silent && !stands_still(rival))
			return false;
		has_rival = true;
	}
	return has_rival;
}

static void replace(struct contender *contenders, size_t count, struct contender *own)
{
	for (size_t i = 0; i < count; i++) {
		if (contenders[i].standing != STANDING_COUNTS ||
		    !rank_are_rivals(contenders[i].zone, own->zone))
			continue;
		contenders[i].is_away = contenders[i].is_silent;
		contenders[i].is_still = !contenders[i].is_silent;
		contenders[i].standing = contenders[i].is_silent ? STANDING_HELD : STANDING_ENDED;
	}
	own->standing = STANDING_COUNTS;
	own->is_still = false;
}

/* The best that moves goes first: the others find that it does. */
static void replace_still(struct contender *contenders, size_t count)
{
	struct contender *best;

	do {
		best = NULL;
		for (size_t i = 0; i < count; i++) {
			if (may_replace(contenders, count, &contenders[i]) &&
			    (!best || is_better(&contenders[i], best)))
				best = &contenders[i];
		}
		if (best)
			replace(contenders, count, best);
	} while (best);
}

/* The order does not matter: a zone that has just taken over is ended by a better one. */
void rank_settle(struct contender *contenders, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (contenders[i].standing == STANDING_HELD &&
		    may_count(contenders, count, &contenders[i]))
			take_over(contenders, count, &contenders[i]);
	}
	replace_still(contenders, count);
}
