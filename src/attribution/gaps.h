/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ran while a zone gave no reading. When its counter can be read again, what flowed in the
 * gap goes to the work of the whole gap, and not to what happened to run at its end.
 *
 * A gap collects weights by row of the ledger, from the first interval without a reading on: those
 * of one rule (share_rule.h), and CPU time beside them, by which the gap is split if in any of its
 * intervals the rule could not be used. Zones that were lost in the same interval, follow the same
 * socket's work and have the same rule share one. Rows may go
 * while it lasts: what a process without a row had run is its container's, and what a container
 * without a row had run is the work of nothing that can be named. Pure: rows and weights in,
 * parties out.
 */
#pragma once

#include "attribution/parties.h"
#include "attribution/zone_account.h"

/* As many as a large machine has sockets and devices, each of which has a gap of its own. */
#define GAPS_MAX 96
#define GAP_NONE UINT32_MAX
/* One more than there is room for: what ran meanwhile is not known. */
#define GAP_LOST (UINT32_MAX - 1)

/* The work of a process or of a container: @serial tells whether the ledger's row is still its. */
struct gap_cell {
	uint64_t serial; /* 0: none */
	uint64_t dynamic, idle;
	uint64_t time;             /* as dynamic, in the unit of SHARE_CPU_TIME */
	uint64_t container_serial; /* of a process */
	uint32_t container;
};

struct gap_cells {
	struct gap_cell *cell; /* by the ledger's row */
	uint32_t count;
};

struct gap {
	uint64_t began_ns;          /* when the first interval without a reading ended */
	uint32_t place;             /* whose work counts: a socket's, a device's, or PLACE_NONE */
	enum share_rule rule;       /* that the dynamic weights are of, unless is_mixed */
	bool is_mixed;              /* some work came with weights of another rule: of no use */
	bool has_weights;           /* any is above 0 */
	uint32_t zones;             /* that wait; 0: not in use */
	bool incomplete;            /* memory was refused */
	enum idle_share idle_share; /* that the idle weights are of */
	struct gap_cells processes, containers;
	uint64_t dropped, unseen; /* weights without a name */
	uint64_t time_dropped, time_unseen;
	uint64_t idle_dropped;         /* likewise, of idle energy by allocation */
	struct zone_activity activity; /* of all of it */
};

struct gaps {
	struct gap gap[GAPS_MAX];
	uint32_t used; /* in use, for the usual case: none */
};

/*
 * Enters one more zone, which has no reading in the interval that ends at @now_ns, before the work
 * of that is collected: the gap's number, or GAP_LOST.
 */
uint32_t gaps_enter(struct gaps *gaps, uint64_t now_ns, uint32_t place, enum share_rule rule);
/* A zone leaves its gap, which may be GAP_NONE or GAP_LOST; the last one takes it away. */
void gaps_leave(struct gaps *gaps, uint32_t gap);
/*
 * Adds an interval's work: the weights of @work (its energies do not matter), which belong to
 * @party [work->count], and what else the machine did. Idle weights of another policy than that of
 * @work, of before a reload, are forgotten: their units differ.
 */
void gap_collect(struct gap *gap, const struct ledger *ledger, const struct party *party,
		 const struct attribution_input *work, const struct zone_activity *activity);
/* What the dynamic weights of gap_parties() are of: the gap's rule, or CPU time. */
enum share_rule gap_rule(const struct gap *gap);
/* What is of work without a name: by gap_rule(), and in CPU time. */
struct gap_nameless {
	uint64_t dropped, unseen;
	uint64_t time_dropped, time_unseen;
};
/*
 * What was collected, as the parties of one long interval: their weights are in cpu_ns and
 * idle_weight. What has no row any more is dropped. 0 or -ENOMEM, also where memory was refused
 * before: then nothing is known.
 */
int gap_parties(const struct gap *gap, const struct ledger *ledger, struct parties *ret,
		struct gap_nameless *ret_nameless);
/* A gap that is not one of struct gaps: what it has collected goes. */
void gap_release(struct gap *gap);
void gaps_release(struct gaps *gaps);
