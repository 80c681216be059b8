/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a picture of power: power_picture.h explains them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/ledger.h"
#include "attribution/view_info.h"
#include "snapshot/owner_text.h"
#include "snapshot/process_users.h"
#include "snapshot/ranking.h"

#define POWER_TOP_PROCESSES 64
#define POWER_TOP_OWNERS    16
#define POWER_ROWS_MAX      4096 /* of a level */
#define POWER_ROW_NONE      UINT32_MAX
#define POWER_PARTS_MAX     (2 * ZONE_KIND_COUNT * 2) /* each kind and its rest, of each quality */

struct snapshot_zone;

struct power_part {
	enum zone_kind kind;
	enum zone_quality quality;
	bool is_rest; /* what no part that is shown inside @kind has counted */
	uint64_t power_uw;
};

struct power_row {
	uint64_t power_uw;  /* 0 while the total is not known */
	uint64_t energy_uj; /* of the zones of the total, since the row began */
	uint64_t cpu_ns;    /* in the interval */
	uint64_t start_ns;  /* of a process: CLOCK_BOOTTIME; else 0 */
	/*
	 * The rows of the picture that a process (its container) and a container (its groups)
	 * belong to, by level; POWER_ROW_NONE: none, or the picture does not have it.
	 */
	uint32_t belongs_to[LEVEL_COUNT];
	uint32_t pid;                  /* 0: not a process */
	uint32_t number;               /* of a user: its id; of a GPU: its zone; else 0 */
	char command[LEDGER_COMM_MAX]; /* "": not a process; untrusted bytes, as: */
	/*
	 * The owner's name: "shop/checkout-7d9f" for a process, "web in …" for a container, its own
	 * name for a group or a service, its id for a user, its zone's name for a GPU.
	 */
	char owner[OWNER_TEXT_SIZE];
};

/* How many rows of each level a picture has at most. */
struct power_row_limits {
	uint32_t rows[LEVEL_COUNT]; /* up to POWER_ROWS_MAX */
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
	double error_w;      /* half-width of the 90 % interval of that part; 0: not known */
	uint64_t total_uw;
	bool has_idle;            /* the idle part of a zone in it is known */
	bool idle_is_provisional; /* ... and of one that is a bound: at most idle_uw is idle */
	uint64_t idle_uw;         /* of it what no row is charged */
	uint64_t unattributed_uw;
	uint32_t part_count;
	struct power_part parts[POWER_PARTS_MAX];
	bool is_whole;  /* taken with power_whole */
	bool has_users; /* ... and the users of processes are known */
	struct power_list view[VIEW_COUNT];
	uint32_t row_count;
	struct power_row *rows; /* [row_count] */
};

/* Memory that is used again for each picture; 0 at first. */
struct power_scratch {
	struct counted_account *accounts;
	uint32_t room;
	struct ranking ranking;
	struct power_row *rows; /* of the picture */
	uint32_t row_room;
	uint32_t *places; /* of the rows of a level, by their numbers in the ledger */
	uint32_t place_room;
	struct power_share *shares; /* of the rows in one view */
	uint32_t share_room;
	const struct process_users *users; /* borrowed; NULL: not known */
};
