// SPDX-License-Identifier: Apache-2.0
/*
 * Meters with faults. The energy that must be counted follows from the promise about a counter that
 * wraps: the energy between two readings is known if it can be neither more than the zone can draw
 * nor a wrap more; otherwise the reading is a new baseline.
 */
#include <string.h>

#include "world.h"

#define SLACK_NS 100000000ULL /* a reading may be older than it says */

/* On a machine with many zones, as few are late or down at a time as on one with some zones. */
#define SOME_ZONES 16
#define GONE_NS    (60 * SECOND_NS) /* then the work of a gap is given up */

static void make_zone(struct world *world, enum zone_type type, uint32_t socket, uint32_t die)
{
	static const uint64_t ranges[] = { 262143328850ULL, 262143328850ULL, 65532610987ULL,
					   8191999999ULL, UINT64_MAX / 2 };
	struct meter_zone *zone = &world->zones[world->zone_count++];
	uint64_t draw = chance_next(&world->machine);

	*zone = (struct meter_zone){
		.type = type,
		.socket = socket,
		.die = die,
		.source = is_of_socket(type) ? socket % world->sources : 0,
		.range_uj = world_has(world, FEATURE_TURNS) ? ranges[draw % 5] : ranges[4],
		.max_power_uw = type == TYPE_DRAM ? 1000000000ULL : 2000000000ULL,
		.base_uw = chance_below(&world->machine, 60) * 1000000,
		.full_uw = 1000 + chance_below(&world->machine, 500000000),
		.generation = 1,
	};
	if (!is_of_socket(type))
		zone->max_power_uw = 20000000000ULL;
	if (chance_one_in(&world->machine, 40))
		zone->base_uw = zone->full_uw = 0; /* some machines have such counters */
	if (zone->range_uj < UINT64_MAX / 2)
		zone->offset_uj = chance_below(&world->machine, zone->range_uj);
	draw = chance_next(&world->machine);
	if (world_has(world, FEATURE_LATE) && world->zone_count <= SOME_ZONES && draw % 6 == 0)
		zone->found_at = 1 + draw / 6 % 60;
}

static void number_accounts(struct world *world)
{
	size_t accounts = 0;

	world->by_zone = chance_one_in(&world->machine, 3);
	for (size_t z = 0; z < world->zone_count; z++) {
		size_t same = 0;

		while (same < z &&
		       (world->by_zone || world->zones[same].type != world->zones[z].type ||
			world->zones[same].source != world->zones[z].source))
			same++;
		world->zones[z].account = same < z ? world->zones[same].account : accounts++;
	}
}

#define TYPES_OF_A_DIE 4

static void make_die(struct world *world, uint32_t socket, uint32_t die, size_t limit)
{
	for (enum zone_type type = TYPE_PACKAGE; type <= TYPE_DRAM; type++) {
		if (world->zone_count + 2 < limit &&
		    (type == TYPE_PACKAGE || chance_below(&world->machine, 3)))
			make_zone(world, type, socket, die);
	}
}

/* How many zones the machine has at most. */
static size_t draw_limit(struct world *world)
{
	uint64_t size = chance_below(&world->machine, 24);

	if (size == 0)
		return chance_from(&world->machine, WORLD_ZONES_MANY + 3, WORLD_ZONES_MAX);
	return size == 1 ? WORLD_ZONES_MANY : size < 4 ? 24 : 6;
}

/* Boards have a source of their own, and chances, so that machines without are as they were. */
static void make_boards(struct world *world)
{
	uint64_t draw = chance_next(&world->gpus);
	struct chance machine = world->machine;

	if (world_has(world, FEATURE_GPUS) && draw % 3 == 0)
		world->boards = 1 + (uint32_t)(draw / 3 % 8);
	if (world->boards && draw / 64 % 12 == 0)
		world->boards = WORLD_BOARDS_MAX;
	world->machine = world->gpus;
	for (uint32_t board = 0; board < world->boards; board++) {
		struct meter_zone *zone = &world->zones[world->zone_count];

		if (world->zone_count == WORLD_ZONES_MAX)
			break;
		make_zone(world, TYPE_GPU, 0, 0);
		zone->board = board;
		zone->source = WORLD_SOURCES_MAX;
		zone->max_power_uw = 4000000000ULL;
	}
	world->gpus = world->machine;
	world->machine = machine;
}

void meters_begin(struct world *world)
{
	size_t limit = draw_limit(world);
	uint32_t dies = 1;

	world->zone_count = 0;
	world->sources = 1;
	if (chance_one_in(&world->machine, 3))
		world->sources = (uint32_t)chance_from(&world->machine, 2, WORLD_SOURCES_MAX);
	if (limit > WORLD_ZONES_MANY)
		dies += (uint32_t)limit / world->sockets / TYPES_OF_A_DIE * 3 / 2;
	for (uint32_t die = 0; die < dies * world->sockets; die++)
		make_die(world, die / dies, die % dies, limit);
	for (enum zone_type type = TYPE_PSYS; type <= TYPE_PLATFORM; type++) {
		if (world->zone_count == 0 || chance_one_in(&world->machine, 3))
			make_zone(world, type, 0, 0);
	}
	make_boards(world);
	/* Zones keep their index in the order in which they are found. */
	for (size_t z = 1; z < world->zone_count; z++) {
		if (world->zones[z].found_at < world->zones[z - 1].found_at)
			world->zones[z].found_at = world->zones[z - 1].found_at;
	}
	number_accounts(world);
}

void meters_settle(struct world *world, uint64_t before_ns, uint64_t settle_ns)
{
	for (size_t z = 0; z < world->zone_count; z++) {
		struct meter_zone *zone = &world->zones[z];

		if (zone->count_from_ns > zone->up_ns)
			zone->count_from_ns += settle_ns - before_ns;
	}
}

static void begin_fault(struct world *world, struct meter_zone *zone)
{
	static const uint32_t lengths[] = { 1, 1, 2, 3, 5, 10, 30, 150 };

	zone->fault = (enum fault)chance_from(&world->faults, FAULT_ERROR, FAULT_ABSENT);
	zone->fault_left = lengths[chance_below(&world->faults, 8)];
}

static void step_fault(struct world *world, struct meter_zone *zone)
{
	uint64_t draw = chance_next(&world->faults);
	size_t some = world->zone_count < SOME_ZONES ? SOME_ZONES : world->zone_count;

	if (zone->fault_left && --zone->fault_left == 0) {
		/* It mostly comes back as another counter. */
		if (zone->fault == FAULT_ABSENT && draw >> 62) {
			zone->generation++;
			zone->offset_uj = draw % (zone->range_uj / 2);
		}
		zone->fault = FAULT_NONE;
	}
	if (!zone->fault_left && world_has(world, FEATURE_FAULTS) && draw % (4 * some) == 0)
		begin_fault(world, zone);
	if (!world_has(world, FEATURE_JUMPS))
		return;
	draw /= 4 * some;
	if (draw % 200 == 0)
		zone->generation++; /* opened again, and goes on */
	if (draw % 200 == 1)
		zone->offset_uj =
			(zone->offset_uj + 1 + draw / 200 % zone->range_uj) % (zone->range_uj + 1);
}

static uint64_t drawn_uj(struct world *world, const struct meter_zone *zone)
{
	const struct world_interval *interval = &world->interval;
	uint64_t capacity = interval->dt_ns * world->sockets * world->cpus_a_socket;
	uint64_t busy = interval->busy_ns < capacity ? interval->busy_ns : capacity;
	unsigned __int128 power_uw = zone->full_uw;

	if (zone->type == TYPE_GPU) {
		capacity = interval->dt_ns;
		busy = interval->board_busy_ns[zone->board];
		busy = busy < capacity ? busy : capacity;
	}
	power_uw = capacity ? power_uw * busy / capacity : 0;
	power_uw += zone->base_uw;
	power_uw += power_uw * chance_below(&world->power, 64) / 1024;
	/* It sleeps with little. */
	return (uint64_t)(power_uw * interval->dt_ns / SECOND_NS / 1000 * 1000 +
			  (unsigned __int128)zone->base_uw * interval->asleep_ns / SECOND_NS / 64 +
			  chance_below(&world->power, zone->full_uw ? 1000 : 1));
}

void meters_step(struct world *world)
{
	for (size_t z = 0; z < world->zone_count; z++) {
		struct meter_zone *zone = &world->zones[z];

		zone->moved = zone->refused = false;
		zone->gap_of_moved = 0;
		zone->true_uj += drawn_uj(world, zone);
		zone->found |= world->interval.number >= zone->found_at;
		if (zone->found)
			step_fault(world, zone);
	}
}

uint64_t meter_raw_uj(const struct meter_zone *zone)
{
	return (uint64_t)((zone->true_uj + zone->offset_uj) %
			  ((unsigned __int128)zone->range_uj + 1));
}

/* As much as can flow in that time; readings are taken to be a little older than they are. */
static unsigned __int128 most_uj(const struct meter_zone *zone, uint64_t elapsed_ns)
{
	return ((unsigned __int128)elapsed_ns + SLACK_NS) * zone->max_power_uw / SECOND_NS;
}

bool meter_read(struct world *world, size_t z, bool *ret_refused)
{
	struct meter_zone *zone = &world->zones[z];
	const struct world_interval *interval = &world->interval;
	unsigned __int128 turn_uj = (unsigned __int128)zone->range_uj + 1;
	uint64_t raw_uj = meter_raw_uj(zone), elapsed_ns = interval->now_ns - zone->read_ns;
	uint64_t away_ns = interval->boot_ns - zone->read_boot_ns;
	unsigned __int128 seen_uj = (turn_uj + raw_uj - zone->read_raw_uj) % turn_uj;
	bool goes_on = zone->has_read && zone->generation == zone->read_generation;
	bool sure =
		seen_uj <= most_uj(zone, elapsed_ns) && seen_uj + turn_uj > most_uj(zone, away_ns);

	zone->moved = true;
	zone->refused = *ret_refused = goes_on && !sure;
	if (goes_on && sure)
		zone->pending_uj += seen_uj;
	else if (zone->has_read)
		zone->unknown = true;
	zone->has_read = true;
	zone->read_raw_uj = raw_uj;
	zone->read_ns = interval->now_ns;
	zone->read_boot_ns = interval->boot_ns;
	zone->read_generation = zone->generation;
	return goes_on && sure;
}

static void track_gap(struct world *world, struct meter_zone *zone)
{
	uint64_t now_ns = world->interval.now_ns;

	zone->gap_of_moved = zone->moved ? zone->gap_begun : 0;
	if (zone->moved) {
		zone->gap_begun = 0;
	} else if (zone->has_base && !zone->gap_begun) {
		zone->gap_begun = world->interval.number;
		zone->gap_begun_ns = now_ns;
		zone->gap_given_up = false;
	} else if (zone->fault == FAULT_ABSENT && now_ns - zone->gap_begun_ns > GONE_NS) {
		zone->gap_given_up = true;
	}
}

/*
 * A zone that is found when others are shown has series that show 0 first; what it counts begins
 * then, with the first two good readings in a row.
 */
static void book(struct world *world, struct meter_zone *zone, bool refused)
{
	uint64_t now_ns = world->interval.now_ns;
	bool up = zone->moved && !refused;
	bool counts =
		up && zone->has_base && now_ns >= zone->count_from_ns &&
		((zone->was_up && !zone->unknown) || zone->has_counted || !zone->count_from_ns);

	track_gap(world, zone);
	zone->was_up = up;
	if (!zone->moved)
		return;
	if (zone->late)
		zone->count_from_ns = now_ns + world->policy.settle_ns;
	zone->late = false;
	if (up)
		zone->up_ns = now_ns;
	zone->has_counted |= counts;
	if (counts && !zone->unknown)
		zone->counted_uj += zone->pending_uj;
	zone->pending_uj = 0;
	zone->unknown = false;
	zone->has_base = true;
}

void meters_book(struct world *world, size_t adopted)
{
	for (size_t z = 0; z < world->zone_count; z++) {
		struct meter_zone *zone = &world->zones[z];

		if (z >= adopted) {
			zone->pending_uj = 0;
			zone->unknown = false;
			continue;
		}
		if (!zone->adopted)
			zone->late = world->has_booked;
		zone->adopted = true;
		book(world, zone, zone->refused);
	}
	world->has_booked = true;
}
