// SPDX-License-Identifier: Apache-2.0
/*
 * Two pictures are kept, this one and the one before, and of each series of the one before what its
 * history was.
 */
#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING UINT32_MAX
#define HALF    (UINT64_MAX / 2) /* what is above was below 0 */

struct history {
	uint64_t born_ns, changed_ns; /* changed: last time that what it shows could change */
	bool settled, followed;       /* followed: it is in the next picture */
};

/* A picture with its rows in one line, level by level, and an index of their keys. */
struct side {
	struct picture picture;
	struct history *history;
	uint32_t *index; /* [index_size], a power of two */
	size_t rows, size, index_size;
	size_t first[PICTURE_LEVELS];
};

/* Since when series of a mode are shown: a zone's at the node, an account's at rows. */
struct mode_birth {
	bool born, at_start;
	uint64_t since_ns, settle_ns; /* the least that was asked for since */
};

struct oracle {
	struct side sides[2];
	unsigned now; /* index of the new one; the other is the previous one */
	bool has_before;
	uint64_t settle_ns, keep_ns; /* the least that was asked for since the previous one */
	struct work_book *work;
	struct counter_book *counters;
	struct mode_birth births[2][WORLD_ZONES_MAX][PICTURE_MODES];
	uint64_t *serial_of; /* [slots] */
	uint64_t *key_of;    /* the same */
	size_t slots;
};

static char said[600];

const char *oracle_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	return said;
}

struct oracle *oracle_new(void)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));

	if (!oracle)
		abort();
	oracle->work = work_book_new();
	oracle->counters = counter_book_new();
	oracle->settle_ns = oracle->keep_ns = UINT64_MAX;
	return oracle;
}

void oracle_free(struct oracle *oracle)
{
	for (size_t i = 0; i < 2; i++) {
		picture_release(&oracle->sides[i].picture);
		free(oracle->sides[i].history);
		free(oracle->sides[i].index);
	}
	work_book_free(oracle->work);
	counter_book_free(oracle->counters);
	free(oracle->serial_of);
	free(oracle->key_of);
	free(oracle);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void oracle_see(struct oracle *oracle, const struct world *world)
{
	struct mode_birth *births = &oracle->births[0][0][0];

	work_book_see(oracle->work, world);
	counter_book_see(oracle->counters, world);
	oracle->settle_ns = least(oracle->settle_ns, world->policy.settle_ns);
	oracle->keep_ns = least(oracle->keep_ns, world->policy.keep_ns);
	for (size_t i = 0; i < sizeof(oracle->births) / sizeof(*births); i++)
		births[i].settle_ns = least(births[i].settle_ns, world->policy.settle_ns);
}

struct picture *oracle_canvas(struct oracle *oracle)
{
	return &oracle->sides[oracle->now].picture;
}

static const struct picture_row *row_at(const struct side *side, size_t row, size_t *ret_level)
{
	size_t level = PICTURE_LEVELS - 1;

	while (row < side->first[level])
		level--;
	*ret_level = level;
	return &side->picture.level[level].rows[row - side->first[level]];
}

static uint32_t find(const struct side *side, uint64_t key)
{
	size_t at = key & (side->index_size - 1), level;

	while (side->index[at] != NOTHING && row_at(side, side->index[at], &level)->key != key)
		at = (at + 1) & (side->index_size - 1);
	return side->index[at];
}

static void reserve(struct side *side)
{
	side->rows = 0;
	for (size_t level = 0; level < PICTURE_LEVELS; level++) {
		side->first[level] = side->rows;
		side->rows +=
			side->picture.level[level].count + side->picture.level[level].retired_count;
	}
	if (side->rows > side->size || !side->index) {
		side->size = side->rows * 2 + 64;
		free(side->history);
		free(side->index);
		side->index_size = 64;
		while (side->index_size < side->size * 2)
			side->index_size *= 2;
		side->history = calloc(side->size, sizeof(*side->history));
		side->index = calloc(side->index_size, sizeof(*side->index));
		if (!side->history || !side->index)
			abort();
	}
	memset(side->index, 0xff, side->index_size * sizeof(*side->index));
}

/* No two rows have the same labels. */
static const char *enter_rows(struct side *side)
{
	reserve(side);
	for (uint32_t i = 0; i < side->rows; i++) {
		size_t level;
		const struct picture_row *row = row_at(side, i, &level);
		size_t at = row->key & (side->index_size - 1);

		if (find(side, row->key) != NOTHING)
			return oracle_say("level %zu: %s (pid %u) is there twice", level, row->text,
					  row->pid);
		while (side->index[at] != NOTHING)
			at = (at + 1) & (side->index_size - 1);
		side->index[at] = i;
		side->history[i] = (struct history){ 0 };
	}
	return NULL;
}

unsigned __int128 oracle_sum(const struct picture_table *table, size_t column)
{
	unsigned __int128 sum = table->pending[column];

	for (size_t i = 0; i < table->count + table->retired_count; i++)
		sum += table->rows[i].values[column];
	return sum;
}

/* The sums over the zones of an account. */
struct account_sums {
	unsigned __int128 node, unattributed;
	size_t zones;
	bool rows_have_mode;
};

static struct account_sums account_sums(const struct world *world, const struct picture *picture,
					size_t account, size_t mode)
{
	struct account_sums sums = { 0 };

	for (size_t z = 0; z < picture->zone_count; z++) {
		const struct picture_zone *zone = &picture->zones[z];

		if (world->zones[z].account != account)
			continue;
		sums.zones++;
		sums.node += zone->node_uj[mode];
		sums.rows_have_mode |= zone->rows_have_mode[mode];
		for (size_t reason = 0; reason < PICTURE_REASONS; reason++)
			sums.unattributed += zone->unattributed_uj[mode][reason];
	}
	return sums;
}

/* Rows + retired + pending + unattributed = node; of pods and VMs it is a part of that. */
static const char *check_level(const struct world *world, const struct picture *picture,
			       const struct picture *before, size_t level, size_t column)
{
	size_t account = (column - PICTURE_NO_ENERGY) / PICTURE_MODES;
	size_t mode = (column - PICTURE_NO_ENERGY) % PICTURE_MODES;
	struct account_sums sums = account_sums(world, picture, account, mode);
	unsigned __int128 rows = oracle_sum(&picture->level[level], column);
	unsigned __int128 others = sums.unattributed, whole = sums.node;

	if (level == PICTURE_POD || level == PICTURE_VM) {
		if (rows + others > whole)
			return oracle_say("level %zu, column %zu: more than the node", level,
					  column);
		if (before && column < before->columns &&
		    rows < oracle_sum(&before->level[level], column))
			return oracle_say("level %zu, column %zu: energy is gone", level, column);
		return NULL;
	}
	if (rows + others == whole)
		return NULL;
	return oracle_say("level %zu, account %zu of %zu zones, mode %zu: rows %llu "
			  "+ unattributed %llu != %llu uJ",
			  level, account, sums.zones, mode, (unsigned long long)rows,
			  (unsigned long long)others, (unsigned long long)whole);
}

static const char *check_sums(const struct world *world, const struct picture *picture,
			      const struct picture *before)
{
	const struct picture_table *tables = picture->level;
	const char *wrong = NULL;

	for (size_t column = PICTURE_NO_ENERGY; column < picture->columns && !wrong; column++) {
		for (size_t level = 0; level < PICTURE_LEVELS && !wrong; level++)
			wrong = check_level(world, picture, before, level, column);
	}
	if (!wrong &&
	    (oracle_sum(&tables[PICTURE_PROCESS], 0) != oracle_sum(&tables[PICTURE_CONTAINER], 0) ||
	     oracle_sum(&tables[PICTURE_PROCESS], 0) != oracle_sum(&tables[PICTURE_NAMESPACE], 0)))
		wrong = "CPU time differs from level to level";
	return wrong;
}

/* Absent is not zero: rows without a series have no energy that the sums would lack. */
static const char *check_absent(const struct world *world, const struct picture *picture, size_t z,
				size_t mode)
{
	const struct picture_zone *zone = &picture->zones[z];
	size_t account = world->zones[z].account, column = picture_column(account, mode);
	bool rows_have_mode = account_sums(world, picture, account, mode).rows_have_mode;

	if (!zone->has_mode[mode] && zone->node_uj[mode])
		return oracle_say("zone %zu, mode %zu: energy, and no series", z, mode);
	if (zone->rows_have_mode[mode] && !zone->has_mode[mode])
		return oracle_say("zone %zu, mode %zu: rows have it, the node has not", z, mode);
	for (size_t level = 0; level < PICTURE_LEVELS && !rows_have_mode; level++) {
		if (oracle_sum(&picture->level[level], column))
			return oracle_say("zone %zu, mode %zu, level %zu: energy, and no series", z,
					  mode, level);
	}
	return NULL;
}

static const char *check_nodes(const struct world *world, const struct picture *picture,
			       const struct picture *before)
{
	const char *wrong = NULL;

	for (size_t z = 0; z < picture->zone_count && !wrong; z++) {
		const struct picture_zone *zone = &picture->zones[z];
		unsigned __int128 node = (unsigned __int128)zone->node_uj[PICTURE_DYNAMIC] +
					 zone->node_uj[PICTURE_IDLE];
		bool up = world->zones[z].moved && !world->zones[z].refused;

		if (node != world->zones[z].counted_uj)
			return oracle_say("zone %zu: the node has %llu uJ, its meter counted %llu",
					  z, (unsigned long long)node,
					  (unsigned long long)world->zones[z].counted_uj);
		if (zone->up != up || (zone->watts_known[PICTURE_DYNAMIC] && !up))
			return oracle_say("zone %zu: up, or has watts, without a reading", z);
		for (size_t mode = 0; mode < PICTURE_MODES && !wrong; mode++) {
			wrong = check_absent(world, picture, z, mode);
			if (before && z < before->zone_count &&
			    zone->node_uj[mode] < before->zones[z].node_uj[mode])
				wrong = oracle_say("zone %zu: the node's counter fell", z);
		}
	}
	return wrong;
}

/* A zone's series, or the idle ones, that are born later show 0 for a while. */
static const char *check_birth(struct mode_birth *birth, const struct world *world,
			       uint64_t missed_ns, bool shown, bool at_start,
			       unsigned __int128 value)
{
	uint64_t settle_ns = world->policy.settle_ns, now_ns = world->interval.now_ns;

	/* Accounting does not know that an interval without memory was not shown: not judged. */
	if (shown && !birth->born)
		*birth = (struct mode_birth){ true, at_start || missed_ns, now_ns, settle_ns };
	if (!birth->born || birth->at_start)
		return NULL;
	if (value && now_ns - birth->since_ns < birth->settle_ns)
		return oracle_say("%llu uJ, %llu ms after its birth, with %llu ms to settle",
				  (unsigned long long)value,
				  (unsigned long long)(now_ns - birth->since_ns) / 1000000,
				  (unsigned long long)birth->settle_ns / 1000000);
	return NULL;
}

static const char *check_births(struct oracle *oracle, const struct world *world,
				const struct picture *picture, uint64_t missed_ns)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < picture->zone_count * PICTURE_MODES && !wrong; i++) {
		size_t z = i / PICTURE_MODES, mode = i % PICTURE_MODES;
		size_t account = world->zones[z].account;
		const struct picture_zone *zone = &picture->zones[z];
		bool at_start = picture->sequence == 1;
		unsigned __int128 rows = oracle_sum(&picture->level[PICTURE_CONTAINER],
						    picture_column(account, mode));

		wrong = check_birth(&oracle->births[0][z][mode], world, missed_ns,
				    zone->has_mode[mode], at_start, zone->node_uj[mode]);
		if (!wrong)
			wrong = check_birth(
				&oracle->births[1][account][mode], world, missed_ns,
				account_sums(world, picture, account, mode).rows_have_mode,
				at_start, rows);
		if (wrong)
			wrong = oracle_say("zone %zu, mode %zu: %s; node %llu, containers %llu uJ",
					   z, mode, strdupa(wrong),
					   (unsigned long long)zone->node_uj[mode],
					   (unsigned long long)rows);
	}
	return wrong;
}

/* Exporters keep texts by slot and serial: neither is of two rows, ever. */
static const char *check_slot(struct oracle *oracle, const struct picture_row *row)
{
	if (row->slot >= oracle->slots) {
		size_t slots = row->slot * 2 + 64;

		oracle->serial_of = realloc(oracle->serial_of, slots * sizeof(uint64_t));
		oracle->key_of = realloc(oracle->key_of, slots * sizeof(uint64_t));
		if (!oracle->serial_of || !oracle->key_of)
			abort();
		memset(oracle->serial_of + oracle->slots, 0,
		       (slots - oracle->slots) * sizeof(uint64_t));
		oracle->slots = slots;
	}
	if (oracle->serial_of[row->slot] == row->serial && oracle->key_of[row->slot] != row->key)
		return oracle_say("%s has slot and serial of another row", row->text);
	if (oracle->serial_of[row->slot] > row->serial)
		return oracle_say("%s has a serial from before", row->text);
	oracle->serial_of[row->slot] = row->serial;
	oracle->key_of[row->slot] = row->key;
	return NULL;
}

/* Checks a row that is new or goes on: @old and @past are NULL, or from the picture before. */
static const char *check_values(const struct world *world, size_t level, uint64_t missed_ns,
				const struct picture_row *row, const struct picture_row *old,
				const struct history *past, struct history *history,
				const struct picture *picture, size_t old_columns)
{
	bool changed = row->pid && !row->ended;

	for (size_t column = 0; column < picture->columns; column++) {
		uint64_t value = row->values[column], delta = row->deltas ? row->deltas[column] : 0;
		uint64_t was = old && column < old_columns ? old->values[column] : 0;

		if (value > HALF || delta > HALF)
			return oracle_say("%s: less than 0 in column %zu", row->text, column);
		if (value < was)
			return oracle_say("%s: column %zu fell from %llu to %llu", row->text,
					  column, (unsigned long long)was,
					  (unsigned long long)value);
		if (!history->settled && value)
			return oracle_say("%s: %llu in column %zu, and has not settled", row->text,
					  (unsigned long long)value, column);
		if (past && past->settled && !row->retired && !missed_ns &&
		    level <= PICTURE_CONTAINER && value - was != delta)
			return oracle_say("%s: column %zu grew by %llu, used %llu", row->text,
					  column, (unsigned long long)(value - was),
					  (unsigned long long)delta);
		changed |= value != was || delta;
	}
	if (changed || !past || past->settled != history->settled)
		history->changed_ns = missed_ns ? missed_ns : world->interval.now_ns;
	return NULL;
}

static const char *check_known(const struct oracle *oracle, size_t level,
			       const struct picture_row *row)
{
	bool is_own = level == PICTURE_PROCESS && row->pid;

	if (row->retired || level > PICTURE_CONTAINER || (level == PICTURE_PROCESS && !is_own))
		return NULL;
	if (strstr(row->text, "|system_processes|") || strstr(row->text, "||other|"))
		return NULL; /* no room for the owner */
	return work_book_knows(oracle->work, row)
		       ? NULL
		       : oracle_say("%s (pid %u) never ran", row->text, row->pid);
}

static const char *check_row(struct oracle *oracle, const struct world *world, uint32_t place,
			     uint64_t missed_ns)
{
	struct side *now = &oracle->sides[oracle->now], *before = &oracle->sides[!oracle->now];
	size_t level, old_level = 0;
	const struct picture_row *row = row_at(now, place, &level), *old = NULL;
	struct history *history = &now->history[place], *past = NULL;
	uint32_t was = oracle->has_before ? find(before, row->key) : NOTHING;
	const char *wrong = check_slot(oracle, row);

	if (was != NOTHING && row_at(before, was, &old_level)->created_ms == row->created_ms) {
		old = row_at(before, was, &old_level);
		past = &before->history[was];
		past->followed = true;
		*history = *past;
		history->followed = false;
	} else {
		*history = (struct history){ .born_ns = now->picture.now_ns,
					     .settled = row->retired || !oracle->has_before };
	}
	history->settled |= now->picture.now_ns - history->born_ns >= world->policy.settle_ns;
	if (!wrong && !past)
		wrong = check_known(oracle, level, row);
	if (!wrong && past && !row->retired && before->picture.memory && old->serial != row->serial)
		wrong = oracle_say("%s goes on under another serial", row->text);
	if (!wrong)
		wrong = check_values(world, level, missed_ns, row, old, past, history,
				     &now->picture, before->picture.columns);
	return wrong;
}

/* There is a row with this key, and it is born now. */
static bool is_born(const struct oracle *oracle, uint64_t key)
{
	const struct side *now = &oracle->sides[oracle->now];
	uint32_t place = find(now, key);

	return place != NOTHING && now->history[place].born_ns == now->picture.now_ns;
}

/*
 * For how long its last value was shown: not at all if it ended in an interval without a picture,
 * unless another process with its labels came there.
 */
static uint64_t kept_for(const struct oracle *oracle, uint32_t place,
			 const struct picture_row *gone, uint64_t missed_ns)
{
	const struct side *now = &oracle->sides[oracle->now],
			  *before = &oracle->sides[!oracle->now];

	if (missed_ns && gone->pid && !gone->ended && !work_book_reused(oracle->work, gone))
		return 0;
	return now->picture.now_ns - before->history[place].changed_ns;
}

static const char *check_gone(const struct oracle *oracle, const struct world *world,
			      uint32_t place, uint64_t missed_ns, bool refused)
{
	const struct side *now = &oracle->sides[oracle->now],
			  *before = &oracle->sides[!oracle->now];
	size_t level;
	const struct picture_row *gone = row_at(before, place, &level);
	bool merged = now->picture.level[level].merged > before->picture.level[level].merged;
	bool container_merged = now->picture.level[PICTURE_CONTAINER].merged >
				before->picture.level[PICTURE_CONTAINER].merged;
	uint64_t kept_ns = kept_for(oracle, place, gone, missed_ns);
	bool settled_long = kept_ns >= oracle->settle_ns;
	bool lives = work_book_lives(oracle->work, world, level, gone);

	/* Its container is gone, or was gone and runs again. */
	if (gone->retired && (level != PICTURE_PROCESS || (find(now, gone->container) != NOTHING &&
							   !is_born(oracle, gone->container))))
		return oracle_say("the retired %s is gone", gone->text);
	if (gone->retired || (level <= PICTURE_CONTAINER && (merged || container_merged)))
		return NULL;
	if (lives || (gone->pid && !gone->ended && !missed_ns))
		return oracle_say("%s (pid %u) lives, and lost its series", gone->text, gone->pid);
	if (settled_long &&
	    (kept_ns >= oracle->keep_ns || merged || (gone->pid && is_born(oracle, gone->key))))
		return NULL;
	/* Its place is taken; the one that takes it had no memory for a series yet. */
	if (refused && gone->pid && settled_long && work_book_ran(oracle->work, gone))
		return NULL;
	return oracle_say(
		"level %zu: %s went before its time, after %llu ms, born %llu ms ago", level,
		gone->text, (unsigned long long)kept_ns / 1000000,
		(unsigned long long)(now->picture.now_ns - before->history[place].born_ns) /
			1000000);
}

static const char *check_limits(const struct world *world, const struct picture *picture)
{
	const struct picture_table *processes = &picture->level[PICTURE_PROCESS];
	const struct picture_table *containers = &picture->level[PICTURE_CONTAINER];
	size_t own = 0, others = 0, all = 0;

	for (size_t level = 0; level < PICTURE_LEVELS; level++)
		all += picture->level[level].count + picture->level[level].retired_count;
	for (size_t i = 0; i < processes->count; i++) {
		own += processes->rows[i].pid != 0;
		others += processes->rows[i].other;
	}
	if ((own && all > world->policy.max_rows) || own > world->max_processes)
		return oracle_say("%zu rows, %zu of processes, more than allowed", all, own);
	if (others != containers->count || own + others != processes->count)
		return "not one row \"other\" for each container";
	if (containers->count > 3 * (size_t)world->max_containers + 1)
		return oracle_say("%zu containers, more than allowed", containers->count);
	for (size_t level = PICTURE_POD; level < PICTURE_LEVELS; level++) {
		if (picture->level[level].count > world->max_containers + 1)
			return oracle_say("level %zu: %zu rows, more than allowed", level,
					  picture->level[level].count);
	}
	return NULL;
}

/* Nothing is pending when all series have settled and all names are known. */
static const char *check_pending(const struct oracle *oracle, const struct world *world,
				 const struct picture *picture)
{
	const struct side *now = &oracle->sides[oracle->now];
	bool all_settled = world->interval.now_ns - world->waited_ns > 70 * SECOND_NS;

	for (uint32_t i = 0; i < now->rows; i++)
		all_settled &= now->history[i].settled;
	for (size_t level = 0; all_settled && level < PICTURE_LEVELS; level++) {
		for (size_t column = 0; column < picture->columns; column++) {
			if (picture->level[level].pending[column])
				return oracle_say("level %zu: pending, and all has settled", level);
		}
	}
	return NULL;
}

static const char *check_series(struct oracle *oracle, const struct world *world,
				uint64_t missed_ns, bool refused)
{
	struct side *now = &oracle->sides[oracle->now], *before = &oracle->sides[!oracle->now];
	const char *wrong = NULL;

	for (uint32_t i = 0; i < before->rows && oracle->has_before; i++)
		before->history[i].followed = false;
	for (uint32_t i = 0; i < now->rows && !wrong; i++)
		wrong = check_row(oracle, world, i, missed_ns);
	for (uint32_t i = 0; i < before->rows && oracle->has_before && !wrong; i++) {
		if (!before->history[i].followed)
			wrong = check_gone(oracle, world, i, missed_ns, refused);
	}
	return wrong;
}

static const char *check_work(struct oracle *oracle, const struct world *world,
			      const struct picture *picture, const struct picture *before)
{
	const char *wrong = work_book_check(oracle->work, world, picture, before);

	if (!wrong)
		wrong = counter_book_check(oracle->counters, world, picture, before);
	for (size_t c = 0; c < WORLD_COUNTERS && !wrong; c++)
		wrong = work_book_check_counter(oracle->work, world, c,
						counter_book_counts(oracle->counters, c), picture);
	return wrong;
}

const char *oracle_check(struct oracle *oracle, const struct world *world, uint64_t missed_ns,
			 bool refused)
{
	struct side *now = &oracle->sides[oracle->now];
	const struct picture *picture = &now->picture;
	const struct picture *before =
		oracle->has_before ? &oracle->sides[!oracle->now].picture : NULL;
	const char *wrong = enter_rows(now);

	if (!wrong)
		wrong = check_sums(world, picture, before);
	if (!wrong)
		wrong = counter_book_check_sums(picture);
	if (!wrong)
		wrong = totals_check(world, picture, before);
	if (!wrong)
		wrong = check_nodes(world, picture, before);
	if (!wrong)
		wrong = check_births(oracle, world, picture, missed_ns);
	if (!wrong)
		wrong = check_limits(world, picture);
	if (!wrong)
		wrong = check_series(oracle, world, missed_ns, refused);
	if (!wrong)
		wrong = check_pending(oracle, world, picture);
	if (!wrong && before && !missed_ns && !refused && !picture->container_overflows &&
	    !world->may_fit)
		wrong = check_work(oracle, world, picture, before);
	oracle->now = !oracle->now;
	oracle->has_before = true;
	oracle->settle_ns = oracle->keep_ns = UINT64_MAX;
	return wrong;
}
