/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which the dynamic energy of a zone is shared. A rule names the signals
 * (energy/signal.h) that weigh the work, and each kind of zone has a list of rules, the best first.
 * The first rule whose signals are known in the interval is used. CPU time is always known and ends
 * each list. The lists are data; docs/attribution.md has the reasons.
 *
 * A rule is chosen again for each interval, without hysteresis: an interval is split by weights of
 * one rule only, so a change costs nothing. Work that was collected over several intervals (gaps.h,
 * work_history.h) is split by CPU time if their rules differ. Units never mix. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/signal.h"
#include "energy/total.h"
#include "energy/zone.h"

enum share_rule {
	SHARE_CPU_TIME,
	SHARE_SMT_TIME,            /* CPU time; with a busy sibling it counts less: smt_ppm */
	SHARE_CYCLES,              /* of the core's clock; paired ones count less, if known */
	SHARE_CYCLES_INSTRUCTIONS, /* both: see SHARE_MIX_* */
	SHARE_INSTRUCTIONS,        /* retired */
	SHARE_FREQUENCY_TIME,      /* run time × frequency; paired as SHARE_CYCLES */
	SHARE_CACHE_MISSES,        /* of the last level */
	SHARE_MEMORY_TRAFFIC,
	SHARE_RESIDENT,      /* memory that is held */
	SHARE_RESIDENT_TIME, /* CPU time × memory that the container holds */
	SHARE_NETWORK,       /* softirqs of sending and receiving */
	SHARE_BLOCK,         /* bytes of block devices */
	SHARE_FIT,           /* nJ, as the zone's power was regressed on counters (zone_fits.h) */
	/* The following belong to the domain and cannot be chosen. */
	SHARE_DEVICE_TIME, /* for which each kept a device busy */
	SHARE_PARTS,       /* the energy that each used of the machine's parts */
	SHARE_RULE_COUNT,
	SHARE_AUTO = SHARE_RULE_COUNT, /* as an option: by the list of the zone's kind */
};

/*
 * The energy of a cycle (or of run time) of a thread with a busy sibling, over the energy of a
 * cycle of a thread that has the core for itself. METRION (arXiv 2512.06806) measures that the
 * second thread adds some 15 % to the power of a core: (1 + 0.15) / 2. HaPPy (Zhai et al., USENIX
 * ATC 2014) found that the two states must be distinguished.
 */
#define SHARE_SMT_PPM 575000
#define SHARE_PPM     1000000
/*
 * In SHARE_CYCLES_INSTRUCTIONS, relative to a cycle of a thread that has the core for itself: a
 * cycle with a busy sibling is half of what keeps the core awake, regardless of smt_ppm, because
 * the energy that the second thread adds is in its instructions. docs/attribution.md has the
 * reasons.
 */
#define SHARE_MIX_PAIRED_PPM      500000
#define SHARE_MIX_INSTRUCTION_PPM 750000

/* How far factors of owners (power_owners.h) count, which are learned from power alone. */
enum owner_factors {
	OWNER_FACTORS_BOUNDED, /* an owner's share is raised within share_bound.h */
	OWNER_FACTORS_TRUSTED, /* in full */
	OWNER_FACTORS_OFF,     /* not at all */
};

struct share_options {
	enum share_rule rule[ZONE_KIND_COUNT]; /* SHARE_AUTO, or one to be used if possible */
	/*
	 * Out of SHARE_PPM, and at most that: for SHARE_SMT_TIME, SHARE_CYCLES and
	 * SHARE_FREQUENCY_TIME.
	 */
	uint64_t smt_ppm;
	bool may_fit; /* with SHARE_AUTO: regressions are learned, and used where they are better */
	enum owner_factors owner_factors;
	enum psys_gpus psys_gpus; /* do totals assume that psys contains GPUs? */
};

/* "cycles": as options, metrics and pages name it. */
const char *share_rule_name(enum share_rule rule);
/* "cycles": what a weight of the rule is counted in. */
const char *share_rule_unit(enum share_rule rule);
/* "CPU cycles": what the energy is shared by, in a sentence. */
const char *share_rule_words(enum share_rule rule);
/* SIGNAL_BIT()s that it needs; 0: none, or it is the domain's. */
uint32_t share_rule_signals(enum share_rule rule);
/* Are its weights made of signals (share_weights.h), and not of time or energy alone? */
bool share_rule_has_signals(enum share_rule rule);
/* Do its signals cover only the time that context switches have shown (SIGNAL_COUNTED_TIME)? */
bool share_rule_is_of_counted_time(enum share_rule rule);
/*
 * The weight of time or of a cycle with a busy sibling, relative to one alone, if pairing is known:
 * @smt_ppm, the rule's own factor, or SHARE_PPM if the rule does not distinguish the two.
 */
uint64_t share_rule_pairing_ppm(enum share_rule rule, uint64_t smt_ppm);
/* Rule @index of the list of @kind, the best first. False where the list ends. */
bool share_rule_in_list(enum zone_kind kind, uint32_t index, enum share_rule *ret);
/*
 * The rule for zones of @kind if @signals are known: the one that is asked for if its signals are
 * known, else the first one in the list whose signals are.
 */
enum share_rule share_rule_choose(const struct share_options *options, enum zone_kind kind,
				  uint32_t signals);
