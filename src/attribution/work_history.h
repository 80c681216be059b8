/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of some time ago, for meters that report late: the power that a management controller
 * shows is some seconds old, or the mean of half a minute. Its energy is charged to the work of
 * that time, and not to the work that runs when it is reported.
 *
 * A history keeps the work at one place, weighed by one rule and in CPU time, as slices, which
 * follow each other, as far back as the latest meter of that place needs; without a late meter
 * there is no history. A slice is an interval or, if the history reaches far back, some intervals
 * together; a part of a slice has its work in proportion to its time. Bounded: at a limit the
 * oldest slices go. Pure.
 */
#pragma once

#include "attribution/gaps.h"
#include "attribution/zone_account.h"

#define HISTORIES_MAX        16    /* places and rules */
#define HISTORY_SLICES       32    /* over all that a history reaches back, or shorter ones */
#define HISTORY_SLICES_MAX   128   /* while it grows */
#define HISTORY_ENTRIES_MAX  65536 /* of all slices of one history */
#define HISTORY_REACH_MAX_NS (3900 * 1000000000ULL)

struct history_entry {
	struct party party;
	/* They show if the ledger's rows still belong to this process and this container. */
	uint64_t process_serial, container_serial;
	uint64_t dynamic, idle; /* weights */
	uint64_t time;          /* as dynamic, in the unit of SHARE_CPU_TIME */
};

struct history_slice {
	uint64_t from_ns, to_ns; /* MONOTONIC */
	struct history_entry *entries;
	size_t count, size;
	enum share_rule rule;     /* that the dynamic weights are of */
	uint64_t dropped, unseen; /* weights without a name */
	uint64_t time_dropped, time_unseen;
	struct zone_activity activity; /* of all of it */
	enum idle_share idle_share;    /* that the idle weights are of */
};

struct work_history {
	uint32_t place; /* as in struct gap */
	enum share_rule rule;
	uint64_t reach_ns; /* how far back it is to go; 0: not in use */
	uint64_t asked_ns; /* when a meter was last late */
	struct history_slice slices[HISTORY_SLICES_MAX]; /* the oldest first */
	size_t count, entries;
};

/* Zeroed: none. */
struct work_histories {
	struct work_history *history; /* [HISTORIES_MAX] once there is one */
	size_t count;                 /* as many have been in use at once */
};

/*
 * At @now_ns a meter at @place reported a value for a time that began @reach_ns ago. From now on
 * the work of so long a time, weighed by @rule, is kept. Without memory, or beyond HISTORIES_MAX,
 * there is no history.
 */
void work_histories_want(struct work_histories *histories, uint32_t place, enum share_rule rule,
			 uint64_t reach_ns, uint64_t now_ns);
/* NULL: there is none. */
struct work_history *work_histories_find(const struct work_histories *histories, uint32_t place,
					 enum share_rule rule);
/*
 * The history at @place that covers the time from @from_ns to @to_ns: by @rule, else by another
 * rule; its CPU time is of use. NULL: there is none.
 */
struct work_history *work_histories_find_covering(const struct work_histories *histories,
						  uint32_t place, enum share_rule rule,
						  uint64_t from_ns, uint64_t to_ns);
void work_histories_release(struct work_histories *histories);

/*
 * Adds the interval that ended at @now_ns and took activity->dt_ns, as gap_collect(). A history
 * that no meter has needed for ten times its reach is released.
 */
void work_history_add(struct work_history *history, const struct ledger *ledger,
		      const struct party *party, const struct attribution_input *work,
		      const struct zone_activity *activity, uint64_t now_ns);
/* Does it cover all of the time from @from_ns to @to_ns? */
bool work_history_covers(const struct work_history *history, uint64_t from_ns, uint64_t to_ns);
/*
 * Adds the work of that time, which it covers, to @gap. Weights of idle energy of another policy
 * than @share are left out.
 */
void work_history_collect(const struct work_history *history, const struct ledger *ledger,
			  uint64_t from_ns, uint64_t to_ns, enum idle_share share, struct gap *gap);
