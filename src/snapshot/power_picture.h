/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process draws how much of the node's power: the one value that the live table, the page at
 * "/", `kepler doctor` and /api/v1/now show. It is taken of the ledger's interval before the rules
 * of publication apply, so that it has every process from its first interval on.
 *
 * The total is the power of the zones that kepler_node_joules_total adds up (energy/total.h), and
 * rows are watts of the same zones. In integers, for processes and owners alike:
 *
 *     Σ rows + other + idle + unattributed = total = Σ parts
 *
 * Parts are what the total is made of. Where zones are counted inside a zone of the total, as those
 * of an estimate are, they are shown in its place, with the rest of that zone as a part of its own:
 * package, dram, rest of platform. Only zones of the whole machine (psys, platform) are taken
 * apart, and only while what is inside them draws no more than they do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/ledger.h"
#include "snapshot/ranking.h"

#define POWER_TOP_PROCESSES 64
#define POWER_TOP_OWNERS    16
#define POWER_OWNER_SIZE    128
#define POWER_PARTS_MAX     (2 * ZONE_KIND_COUNT * 2) /* each kind and its rest, of each quality */

struct snapshot_zone;

struct power_part {
	enum zone_kind kind;
	enum zone_quality quality;
	bool is_rest; /* what no part that is shown inside @kind has counted */
	uint64_t power_uw;
};

struct power_row {
	uint32_t pid;                  /* 0: an owner */
	char command[LEDGER_COMM_MAX]; /* "": an owner; untrusted bytes, as: */
	char owner[POWER_OWNER_SIZE];  /* "shop/checkout-7d9f"; an owner "web in …" */
	uint64_t power_uw;             /* 0 while the total is not known */
	uint64_t energy_uj;            /* of the zones of the total, since the row began */
	uint64_t cpu_ns;               /* in the interval */
};

/* The largest first: by power or, while the total is not known, by CPU time. */
struct power_list {
	uint32_t first, count; /* of the picture's rows */
	uint32_t left_out;     /* further rows that used something: other_… has them */
	/* Also of work that an owner is charged and no process. */
	uint64_t other_uw, other_uj, other_cpu_ns;
};

struct power_picture {
	int64_t realtime_ms;
	uint64_t elapsed_ns; /* that cpu_ns is of; 0: not known */
	bool is_known;       /* the total is; else all power is 0 */
	bool is_estimated;   /* at least a part of it is */
	double error_w;      /* half-width of the 90 % interval of what is; 0: not known */
	uint64_t total_uw;
	bool has_idle;            /* the idle part of a zone in it is known */
	bool idle_is_provisional; /* ... and of one that is a bound: at most idle_uw is idle */
	uint64_t idle_uw;         /* of it what no row is charged */
	uint64_t unattributed_uw;
	uint32_t part_count;
	struct power_part parts[POWER_PARTS_MAX];
	struct power_list processes, owners;
	struct power_row rows[POWER_TOP_PROCESSES + POWER_TOP_OWNERS];
};

/* Memory that is used again for each picture; 0 at first. */
struct power_scratch {
	struct counted_account *accounts;
	uint32_t room;
	struct ranking ranking;
};

/* Copies what is in use of it: with few rows, that is little. */
void power_picture_copy(struct power_picture *ret, const struct power_picture *picture);

void power_scratch_release(struct power_scratch *scratch);

/*
 * Takes the picture of the interval that @ledger has closed, before any row is released. @zones:
 * [ledger_zones()]. @elapsed_ns: that the pass over the processes covers.
 *
 * A source that is read less often than once an interval has intervals without a new reading: until
 * it has one, the last picture stays. 0, or -ENOMEM (likewise).
 */
int power_picture_take(struct power_picture *picture, const struct ledger *ledger,
		       const struct snapshot_zone *zones, uint64_t elapsed_ns, int64_t realtime_ms,
		       struct power_scratch *scratch);
