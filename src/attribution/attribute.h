/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares out the energy of one zone in one interval, to the microjoule. Pure.
 *
 * Σ shares (dynamic + idle) + Σ unattributed = energy, exactly, whatever the input.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/share_rule.h"
#include "attribution/split.h"

enum energy_mode { MODE_DYNAMIC, MODE_IDLE, MODE_COUNT };

enum unattributed_reason {
	UNATTRIBUTED_IDLE_POLICY, /* idle energy that the policy leaves on the node */
	UNATTRIBUTED_NO_ACTIVITY, /* no process is known that ran (or exists, for shared idle) */
	UNATTRIBUTED_DROPPED,     /* used by tasks that could not be named */
	UNATTRIBUTED_UNSEEN,      /* used by work that only the machine's own account shows */
	UNATTRIBUTED_REASON_COUNT,
};

enum idle_share {
	IDLE_SHARE_NODE,
	IDLE_SHARE_SIZE,
	IDLE_SHARE_USAGE,
	IDLE_SHARE_EQUAL,
	IDLE_SHARE_HOLDER,     /* of a device: equally among its holders, busy or not */
	IDLE_SHARE_ALLOCATION, /* of a device: among containers, by what each was allocated */
	IDLE_SHARE_RESIDENT,   /* of memory, with IDLE_SHARE_SIZE: by what each container holds */
};

const char *energy_mode_name(enum energy_mode mode);                   /* "dynamic", "idle" */
const char *unattributed_reason_name(enum unattributed_reason reason); /* "idle_policy", … */
const char *idle_share_name(enum idle_share share);

struct attribution_input {
	uint64_t energy_uj;              /* what the meter measured in the interval */
	uint64_t idle_uj;                /* its idle part; at most energy_uj counts */
	size_t count;                    /* processes */
	enum share_rule rule;            /* that the weights of dynamic energy are of */
	const uint64_t *dynamic_weights; /* [count] */
	uint64_t dropped_weight;         /* same unit: activity without a name */
	uint64_t unseen_weight;          /* same unit: activity that is known from its sum only */
	/*
	 * With a rule that has signals: the same work in CPU time, by which idle energy is shared
	 * with IDLE_SHARE_USAGE. The array may be NULL where nothing else needs it.
	 */
	const uint64_t *time_weights; /* [count] */
	uint64_t time_dropped, time_unseen;
	enum idle_share idle_share;
	const uint64_t *idle_weights; /* [count]; unused with IDLE_SHARE_NODE */
	uint64_t idle_dropped_weight; /* with IDLE_SHARE_ALLOCATION: allocated, without a name */
};

struct attribution_result {
	uint64_t *parts[MODE_COUNT];  /* [count] each, the caller's memory, written */
	uint64_t mode_uj[MODE_COUNT]; /* dynamic, idle: sum = energy_uj */
	uint64_t unattributed_uj[MODE_COUNT][UNATTRIBUTED_REASON_COUNT];
};

/* Converts @input, whose rule has signals, to CPU time, which it has in time_weights. */
void attribution_use_time(struct attribution_input *input);
/* Work without a name in CPU time, or in the unit of a rule that has no signals. */
uint64_t attribution_time_dropped(const struct attribution_input *input);
uint64_t attribution_time_unseen(const struct attribution_input *input);
/* Are there any weights by the rule at all? */
bool attribution_has_weights(const struct attribution_input *input);
/*
 * 0, -ENOMEM or -EOVERFLOW (as split_exact); on failure every part is 0 and everything is in
 * unattributed, reason no_activity, so that the sum still holds.
 *
 * The share of activity without a name goes to the reason "dropped", and the share of unseen
 * activity to "unseen": of the dynamic energy and, if it is shared by usage, of the idle energy. If
 * idle energy is shared by allocation, the share allocated to containers without a name is
 * "dropped", too.
 */
int attribute_zone(const struct attribution_input *input, struct attribution_result *result,
		   struct split_scratch *scratch);
