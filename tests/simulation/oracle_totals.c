// SPDX-License-Identifier: Apache-2.0
/*
 * Totals: no energy twice, none without reason in none, the same zones from picture to picture, and
 * what rows, retired rows, pending and unattributed have of a total is what the node has of it.
 */
#include "oracle.h"

#define NO_TOTAL 0

/* The parts that each type counts. */
static const unsigned parts[] = {
	[TYPE_CORE] = 1,  [TYPE_UNCORE] = 2,     [TYPE_PACKAGE] = 7, [TYPE_DRAM] = 8,
	[TYPE_PSYS] = 95, [TYPE_PLATFORM] = 127, [TYPE_GPU] = 64,
};

static bool of_one_place(const struct meter_zone *a, const struct meter_zone *b)
{
	if (a->type == TYPE_GPU && b->type == TYPE_GPU)
		return a->board == b->board;
	return !is_of_socket(a->type) || !is_of_socket(b->type) ||
	       (a->socket == b->socket && a->die == b->die);
}

/* For two zones: is the same energy in totals twice, or one sum of rows in two? */
static const char *check_pair(const struct world *world, const struct picture *picture, size_t i,
			      size_t j)
{
	const struct meter_zone *a = &world->zones[i], *b = &world->zones[j];
	uint64_t total_a = picture->zones[i].total, total_b = picture->zones[j].total;

	if (a->account == b->account && total_a != total_b)
		return oracle_say("zones %zu and %zu: one account, totals %llu and %llu", i, j,
				  (unsigned long long)total_a, (unsigned long long)total_b);
	if (total_a == NO_TOTAL || total_b == NO_TOTAL)
		return NULL;
	if (of_one_place(a, b) && parts[a->type] & parts[b->type])
		return oracle_say("zones %zu and %zu: the same energy is in a total twice", i, j);
	if ((a->source == b->source) != (total_a == total_b))
		return oracle_say("zones %zu and %zu: a total is not one of each source", i, j);
	return NULL;
}

/* A zone that is in no total has energy that a zone of another type has, too. */
static bool is_covered(const struct world *world, const struct picture *picture, size_t z)
{
	bool covered = picture->zones[z].total != NO_TOTAL;

	for (size_t i = 0; i < picture->zone_count; i++)
		covered |= picture->zones[i].total != NO_TOTAL &&
			   parts[world->zones[i].type] & parts[world->zones[z].type];
	return covered;
}

static const char *check_zone(const struct world *world, const struct picture *picture,
			      const struct picture *before, size_t z)
{
	const char *wrong = NULL;

	if (!is_covered(world, picture, z))
		return oracle_say("zone %zu is in no total, and no other one has its energy", z);
	if (before && z < before->zone_count &&
	    (before->zones[z].total == NO_TOTAL) != (picture->zones[z].total == NO_TOTAL))
		return oracle_say("zone %zu went into a total, or out of it", z);
	for (size_t i = 0; i < z && !wrong; i++)
		wrong = check_pair(world, picture, i, z);
	return wrong;
}

/* Which total the zones of @account are in. */
static uint64_t total_of(const struct world *world, const struct picture *picture, size_t account)
{
	size_t z = 0;

	while (world->zones[z].account != account)
		z++;
	return picture->zones[z].total;
}

static const char *check_sum(const struct world *world, const struct picture *picture,
			     uint64_t total, size_t mode, size_t level)
{
	unsigned __int128 node = 0, sum = 0;

	for (size_t z = 0; z < picture->zone_count; z++) {
		const struct picture_zone *zone = &picture->zones[z];

		if (zone->total != total)
			continue;
		node += zone->node_uj[mode];
		for (size_t reason = 0; reason < PICTURE_REASONS; reason++)
			sum += zone->unattributed_uj[mode][reason];
	}
	for (size_t account = 0; account < picture->account_count; account++) {
		if (total_of(world, picture, account) == total)
			sum += oracle_sum(&picture->level[level], picture_column(account, mode));
	}
	if (sum == node)
		return NULL;
	return oracle_say("total %llu, mode %zu, level %zu: %llu uJ, the node has %llu",
			  (unsigned long long)total, mode, level, (unsigned long long)sum,
			  (unsigned long long)node);
}

const char *totals_check(const struct world *world, const struct picture *picture,
			 const struct picture *before)
{
	static const enum picture_level whole[] = { PICTURE_PROCESS, PICTURE_CONTAINER,
						    PICTURE_NAMESPACE };
	const char *wrong = NULL;
	uint64_t totals = 0;

	for (size_t z = 0; z < picture->zone_count && !wrong; z++) {
		wrong = check_zone(world, picture, before, z);
		if (picture->zones[z].total > totals)
			totals = picture->zones[z].total;
	}
	for (uint64_t total = 1; total <= totals && !wrong; total++) {
		for (size_t i = 0; i < 3 * PICTURE_MODES && !wrong; i++)
			wrong = check_sum(world, picture, total, i % PICTURE_MODES,
					  whole[i / PICTURE_MODES]);
	}
	return wrong;
}
