/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a row's numbers of one interval came about: the energy that each zone counted, the work by
 * which it was shared, and the part of the row, with every factor of the arithmetic. Nothing is
 * measured or split a second time: the code that books an interval notes its steps for the rows in
 * question.
 *
 * A process is one party of a split. A container, pod, VM or namespace is several, its processes
 * and what is charged to a container directly: its weight is their sum, and so is its part.
 *
 * The parts follow attribute.h: first the energy of a mode goes to the three sides named work,
 * dropped and unseen, by their weights; then the energy of the named side to its parties:
 *
 *     named_uj = floor(energy_uj × named_weight / (named + dropped + unseen)) or 1 more
 *     part_uj  = floor(named_uj × weight / named_weight) or 1 more, for each party
 *
 * so that charged_uj of all rows of a level and the unattributed energy sum to energy_uj. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "attribution/learning/idle.h"
#include "attribution/ledger.h"
#include "attribution/zone_account.h"
#include "energy/zone.h"

/* One split of one zone's energy, as far as the row is concerned. */
struct explained_mode {
	uint64_t energy_uj; /* of the zone in this mode, all of it */
	uint64_t named_uj;  /* of it to what has a row */
	uint64_t unattributed_uj[UNATTRIBUTED_REASON_COUNT]; /* the rest */
	/* In the unit of the zone's rule, or what the idle share goes by. */
	uint64_t named_weight, dropped_weight, unseen_weight;
	uint64_t weight;     /* the row's, of named_weight */
	uint64_t charged_uj; /* to the row */
	uint32_t parties;    /* that the row had in the split */
};

enum explained_flow {
	EXPLAINED_NOTHING,  /* no new reading: the energy comes with the next good one */
	EXPLAINED_BASELINE, /* its first reading: counted from here on */
	EXPLAINED_UNKNOWN,  /* refused, or a new baseline: the energy is not known, not counted */
	EXPLAINED_HELD,     /* a zone that was found late shows 0 for a while before it counts */
	EXPLAINED_COUNTED,
};

struct explained_zone {
	struct zone zone;
	enum zone_state state;
	int error; /* -errno of the last failure */
	enum explained_flow flow;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC: of the readings; 0: there was none */
	uint64_t energy_uj;      /* between them, as far as it counts */
	uint64_t counter_uj;     /* all that was counted of the zone, with it */
	uint64_t asleep_uj;      /* of it, while the machine was suspended: unattributed */
	uint64_t asleep_ns;
	bool was_gap;  /* the span began before this interval */
	bool was_late; /* it ended before this interval: shared by the work of its own time */
	enum idle_state idle_state;
	uint64_t idle_power_uw; /* with idle_state_has_power() */
	bool idle_settles;      /* the idle series is new, and shows 0 for a while */
	enum idle_share idle_share;
	bool by_socket; /* shared by the work of the CPUs of @package; else of all */
	uint32_t package;
	bool by_device; /* shared by the time for which each kept the device busy */
	bool by_parts;  /* shared by the energy that each used of the machine's parts, in µJ */
	enum share_rule rule; /* of the dynamic weights, as the split used it */
	uint64_t smt_ppm;     /* the weight of work with a busy sibling; SHARE_PPM: full */
	/* The container's weight is multiplied by it, as learned; 0: none, or several. */
	double factor;
	struct explained_mode mode[MODE_COUNT];
};

/* The row's sums, of all zones that it has one counter of. */
struct explained_account {
	struct zone zone; /* the first of them */
	uint32_t zones;
	/* The row's sum since its birth, and the value that its series shows now. */
	uint64_t total_uj[MODE_COUNT], shown_uj[MODE_COUNT];
};

struct explanation {
	enum level level;
	uint32_t row;    /* of the ledger's table of that level */
	uint64_t serial; /* of the row */
	uint64_t now_ns; /* CLOCK_MONOTONIC when the interval ended */
	uint64_t span_ns;
	uint64_t cpu_ns, total_cpu_ns; /* of the row: in the interval, in all */
	uint64_t node_cpu_ns;          /* of the machine, in the interval */
	uint32_t zone_count;
	struct explained_zone zone[ZONES_MAX];
	uint32_t account_count;
	struct explained_account account[ZONES_MAX];
};

struct party;
struct share_factor;

/* One split of a zone's energy: @input and @result of attribute_zone(). All borrowed. */
struct explained_split {
	const struct attribution_input *input;
	const struct attribution_result *result;
	const struct party *party;         /* [input->count], rows of the ledger */
	const struct share_factor *factor; /* of parties, with SHARE_FIT; NULL: none */
	uint64_t asleep_uj, asleep_ns;     /* left out of the split: the machine was suspended */
};

/* Notes a zone's span of this interval, NULL none, before its account is advanced. */
void explanation_note_span(struct explained_zone *zone, const struct zone_account *account,
			   const struct zone_status *status, const struct energy_span *span);
/* Notes what @split gave to the row of @explanation. */
void explanation_note_split(const struct explanation *explanation, struct explained_zone *zone,
			    const struct explained_split *split, const struct ledger *ledger);
/* The sums of the row and of the zones, after ledger_close() and before rows are released. */
void explanation_note_totals(struct explanation *explanation, const struct ledger *ledger);
/* Is the party at (@process, @container) the row's, or a part of it? */
bool explanation_has_party(const struct explanation *explanation, const struct ledger *ledger,
			   uint32_t process, uint32_t container);
