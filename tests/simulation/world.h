/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that is made up from a seed: sockets, zones with meters, processes, owners, options and
 * clients. It gives one interval after the other as plain values, and knows the truth about each.
 * It shares no code with the program.
 */
#pragma once

#include <stddef.h>

#include "chance.h"

#define WORLD_ZONES_MAX     200
#define WORLD_ZONES_MANY    64 /* more than that are many */
#define WORLD_SOURCES_MAX   4
#define WORLD_SOCKETS_MAX   8
#define WORLD_BOARDS_MAX    64
#define WORLD_USES_MAX      2 /* boards that a process uses in an interval */
#define WORLD_COUNTERS      2
#define WORLD_OWNERS_MAX    160
#define WORLD_TASKS_MAX     4096
#define WORLD_SAMPLES_MAX   (2 * WORLD_TASKS_MAX)
#define WORLD_PIDS          8192
#define WORLD_NAME_MAX      32
#define WORLD_CPUS_A_SOCKET 16

#define SECOND_NS           1000000000ULL

/* Features that can be switched off, to find those that a failure needs. */
enum feature {
	FEATURE_FAULTS,   /* meters: errors, stalled, missed, absent and back */
	FEATURE_JUMPS,    /* meters: counters that are reset, reopened, or step */
	FEATURE_TURNS,    /* meters: small ranges, so that counters turn */
	FEATURE_LATE,     /* zones that are found later */
	FEATURE_SLEEP,    /* the machine is suspended */
	FEATURE_SOCKETS,  /* more than one socket */
	FEATURE_PASSES,   /* passes over the processes that fail */
	FEATURE_UNNAMED,  /* work that has no name, or is seen by its sum only */
	FEATURE_BRIEF,    /* processes that end, short ones, pids used again */
	FEATURE_EXEC,     /* other commands, other owners */
	FEATURE_CROWD,    /* thousands of processes, at times */
	FEATURE_RESTART,  /* containers start again under another id */
	FEATURE_NAMES,    /* names that come late, or change */
	FEATURE_IDLE,     /* idle power, and shares of it */
	FEATURE_RELOAD,   /* other options while it runs */
	FEATURE_LIMITS,   /* small tables */
	FEATURE_MEMORY,   /* memory that is refused */
	FEATURE_CLIENTS,  /* snapshots that are held */
	FEATURE_GPUS,     /* boards, and processes that use them */
	FEATURE_COUNTERS, /* of work, in addition to CPU time; late, or lost at times */
	FEATURE_SIGNALS,  /* counters of the work, which may be missing at times */
	FEATURE_COUNT
};
const char *feature_name(enum feature feature);
#define FEATURES_ALL ((1U << FEATURE_COUNT) - 1)

/* The counts of work in addition to its CPU time. */
enum counted {
	COUNTED_TIME = 1 << 0, /* how much of it context switches have shown */
	COUNTED_PAIRED = 1 << 1,
	COUNTED_CYCLES = 1 << 2,
	COUNTED_MISSES = 1 << 3,
	COUNTED_TRAFFIC = 1 << 4, /* of owners only */
	COUNTED_INSTRUCTIONS = 1 << 5,
};

enum policy_idle { POLICY_IDLE_OFF, POLICY_IDLE_FIXED, POLICY_IDLE_LEARNED };
enum policy_share { POLICY_NODE, POLICY_SIZE, POLICY_USAGE, POLICY_EQUAL };

struct policy {
	uint64_t min_uj, settle_ns, keep_ns;
	uint32_t max_rows;
	enum policy_idle idle;
	enum policy_share share;
	uint32_t idle_watts; /* with POLICY_IDLE_FIXED, of each package */
};

struct owner {
	char id[WORLD_NAME_MAX], name[WORLD_NAME_MAX], ns[WORLD_NAME_MAX];
	char pod[WORLD_NAME_MAX], pod_id[WORLD_NAME_MAX], vm[WORLD_NAME_MAX];
	char label[WORLD_NAME_MAX];
	uint32_t millicpu;
	bool waiting, has_pod_names;
	uint64_t version; /* another one when a text above has changed */
	uint64_t changed; /* number of the interval in which one did */
};

struct sample {
	uint32_t pid, owner;
	uint64_t start_ns;
	char comm[16];
	uint64_t cpu_ns, socket_ns[WORLD_SOCKETS_MAX];
	uint32_t board[WORLD_USES_MAX];
	uint64_t board_ns[WORLD_USES_MAX]; /* for which it kept the board busy */
	uint64_t counted[WORLD_COUNTERS];
	uint64_t counted_ns, paired_ns, cycles, misses, instructions;
	bool ended;
};

enum zone_type {
	TYPE_PACKAGE,
	TYPE_CORE,
	TYPE_UNCORE,
	TYPE_DRAM,
	TYPE_PSYS,
	TYPE_PLATFORM,
	TYPE_GPU,
};
static inline bool is_of_socket(enum zone_type type)
{
	return type < TYPE_PSYS;
}
enum fault { FAULT_NONE, FAULT_ERROR, FAULT_STALLED, FAULT_MISSED, FAULT_ABSENT };

/* A meter's zone, and what is true of it. Sums are of 128 bits, in µJ. */
struct meter_zone {
	enum zone_type type;
	uint32_t socket, die; /* with a type of one socket: its dies are metered one by one */
	uint32_t board;       /* of a GPU */
	uint32_t source;      /* which of the machine's sources counts it */
	size_t account; /* which of a row's sums it is part of: by the order of their first zones */
	uint64_t range_uj, max_power_uw;
	uint64_t base_uw, full_uw; /* drawn without and with full load */
	uint64_t found_at;         /* number of the interval that finds it */
	unsigned __int128 true_uj; /* drawn so far */
	uint64_t offset_uj;        /* of the counter */
	uint32_t generation;
	enum fault fault;
	uint32_t fault_left; /* intervals */
	/* The last reading that was made. */
	bool has_read;
	uint64_t read_raw_uj, read_ns, read_boot_ns;
	uint32_t read_generation;
	/* The energy that the node must have counted: between two readings, if that is known. */
	unsigned __int128 counted_uj;
	unsigned __int128 pending_uj; /* known since the last booking, not booked yet */
	bool unknown; /* since the last booking something flowed that is not known */
	bool late;    /* found when others were shown: shows 0 for a while */
	bool found, adopted, has_base, was_up, has_counted;
	uint64_t count_from_ns, up_ns; /* up: when it was last read well */
	uint64_t gap_begun;            /* number of the first interval without a reading; 0: none */
	uint64_t gap_begun_ns;         /* its end */
	bool gap_given_up;             /* gone for so long that what ran is not kept */
	/* In this interval: */
	bool moved, refused;   /* it has a reading, which is not to be believed */
	uint64_t gap_of_moved; /* since which interval its energy is; 0: of this one alone */
};

struct world_interval {
	uint64_t number; /* 1 for the first */
	uint64_t now_ns, boot_ns, dt_ns, asleep_ns;
	int64_t realtime_ms;
	bool pass_failed;
	const struct sample *samples;
	size_t count;
	uint64_t busy_ns, dropped_ns, unseen_ns;
	uint32_t dropped_owner; /* whose cgroup is known, of work without a name */
	uint64_t dropped_owner_ns;
	uint32_t counting;                        /* enum counted; 0 where the pass has failed */
	uint64_t owner_traffic[WORLD_OWNERS_MAX]; /* of those that ran */
	uint32_t cpus, socket_cpus[WORLD_SOCKETS_MAX];
	bool sockets_vague; /* some work is of no known socket */
	bool reload;
	uint32_t refuse_one_in; /* requests for memory that are refused; 0: none */
	/*
	 * For each board: all its busy time, and the parts of it without a name and without a
	 * process.
	 */
	uint64_t board_busy_ns[WORLD_BOARDS_MAX];
	uint64_t board_dropped_ns[WORLD_BOARDS_MAX], board_unseen_ns[WORLD_BOARDS_MAX];
	/*
	 * For each counter. The amount that belongs neither to a sample nor to that owner has no
	 * known owner.
	 */
	bool counter_is_known[WORLD_COUNTERS];
	uint64_t counted[WORLD_COUNTERS]; /* all of it */
	uint32_t counter_owner;           /* whose cgroup has counted, ... */
	uint64_t owner_counted[WORLD_COUNTERS];
};

struct task {
	uint32_t pid, owner;
	uint64_t start_ns;
	char comm[16];
	bool alive;
	uint32_t load; /* of a CPU, 1/1024 */
	uint32_t socket;
	uint64_t remainder_ns; /* reported after its end */
	uint32_t boards;       /* that it uses now */
	uint32_t board;        /* the first of them */
};

struct world {
	uint64_t seed;
	uint32_t features;
	struct chance machine, power, faults, tasks_chance, names, options, memory, clients, gpus,
		signals;
	struct chance counting;
	uint64_t counted_from[WORLD_COUNTERS]; /* number of the interval; 0: never */
	uint32_t sockets, cpus_a_socket, boards;
	uint32_t can_count; /* enum counted */
	bool may_fit;       /* shares are learned from the meters: only sums are judged */
	bool has_booked;
	size_t zone_count;
	struct meter_zone zones[WORLD_ZONES_MAX];
	uint32_t sources; /* of its meters */
	bool by_zone;     /* rows tell zones of one type apart, and do not sum them */
	size_t owner_count;
	struct owner owners[WORLD_OWNERS_MAX];
	uint32_t max_processes, max_containers;
	struct policy policy;
	uint32_t pid_limit, task_count, crowd_left;
	bool pid_taken[WORLD_PIDS];
	uint64_t births, next_name, waited_ns; /* waited: when an owner did last */
	struct task tasks[WORLD_TASKS_MAX];
	struct sample samples[WORLD_SAMPLES_MAX];
	struct world_interval interval;
	uint64_t life; /* intervals */
};

void world_begin(struct world *world, uint64_t seed, uint32_t features);
static inline bool world_has(const struct world *world, enum feature feature)
{
	return world->features & 1U << feature;
}
/* Makes up the next interval: world->interval, its samples, and what meters drew. */
void world_step(struct world *world);

/* counters.c */
void counters_begin(struct world *world);
/* Which are known, before the samples are made up; then what each of these has counted. */
void counters_step(struct world *world);
void counters_count(struct world *world, struct sample *sample);

/* signals.c */
void signals_begin(struct world *world);
/* Draws the counts of the samples of this interval. */
void signals_step(struct world *world);

/* meters.c */
void meters_begin(struct world *world);
/* Series settle for @settle_ns and no longer for @before_ns: zones that show 0 still, too. */
void meters_settle(struct world *world, uint64_t before_ns, uint64_t settle_ns);
/* Draws the energy of each zone in this interval, and its faults. */
void meters_step(struct world *world);
uint64_t meter_raw_uj(const struct meter_zone *zone);
/*
 * The zone has been read with success. True: what flowed is known, else the reading is a new
 * baseline: @ret_refused if it is not to be believed.
 */
bool meter_read(struct world *world, size_t z, bool *ret_refused);
/*
 * The interval is booked: moves what is known to what must be counted, of the first @adopted zones;
 * the others are in no account yet.
 */
void meters_book(struct world *world, size_t adopted);
