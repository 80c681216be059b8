/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work that ran while a zone had no readings. When its counter can be read again, the energy of
 * the gap is charged to the work of the whole gap, and not to the work that happens to run at its
 * end.
 *
 * A gap collects weights by row of the ledger, from the first interval without a reading on:
 * weights of one rule (share_rule.h), and CPU time as well. If the rule could not be used in one of
 * its intervals, the gap is split by CPU time. Zones that were lost in the same interval, follow
 * the same socket's work and have the same rule share one gap. Rows may go while it lasts: the work
 * of a process without a row is its container's, and the work of a container without a row cannot
 * be named. Pure: rows and weights in, parties out.
 */
#pragma once

#include "attribution/parties.h"
#include "attribution/zone_account.h"

/* A large machine has as many sockets and devices, and each of them can have a gap. */
#define GAPS_MAX 96
#define GAP_NONE UINT32_MAX
/* A gap that found no room: the work that ran meanwhile is not known. */
#define GAP_LOST (UINT32_MAX - 1)

/* The work of a process or a container; @serial shows if the ledger's row still belongs to it. */
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
	uint64_t idle_dropped;         /* the same for idle energy by allocation */
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
/* The rule of the dynamic weights of gap_parties(): the gap's rule, or CPU time. */
enum share_rule gap_rule(const struct gap *gap);
/* The weights of work without a name: by gap_rule(), and in CPU time. */
struct gap_nameless {
	uint64_t dropped, unseen;
	uint64_t time_dropped, time_unseen;
};
/*
 * The collected work, as the parties of one long interval: their weights are in cpu_ns and
 * idle_weight. The work of rows that are gone is dropped. 0 or -ENOMEM, also if memory was refused
 * before: then nothing is known.
 */
int gap_parties(const struct gap *gap, const struct ledger *ledger, struct parties *ret,
		struct gap_nameless *ret_nameless);
/* Releases a gap that is not in a struct gaps, with all that it has collected. */
void gap_release(struct gap *gap);
void gaps_release(struct gaps *gaps);
