// SPDX-License-Identifier: Apache-2.0
/*
 * The energy is split three times, each time exactly: into dynamic and idle; each of these into
 * the parts of named processes and of nameless and unseen activity; and the former among the
 * processes.
 *
 * After any failure (memory, weights beyond 64 bits) both modes are unattributed, so that the
 * caller can book the result without looking at the return value first.
 */
#include "attribution/attribute.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macro.h"

const char *energy_mode_name(enum energy_mode mode)
{
	static const char *const names[] = { "dynamic", "idle" };

	return (size_t)mode < ARRAY_SIZE(names) ? names[mode] : "unknown";
}

const char *unattributed_reason_name(enum unattributed_reason reason)
{
	static const char *const names[] = { "idle_policy", "no_activity", "dropped", "unseen" };

	return (size_t)reason < ARRAY_SIZE(names) ? names[reason] : "unknown";
}

const char *idle_share_name(enum idle_share share)
{
	static const char *const names[] = { "node",   "size",       "usage",   "equal",
					     "holder", "allocation", "resident" };

	return (size_t)share < ARRAY_SIZE(names) ? names[share] : "unknown";
}

void attribution_use_time(struct attribution_input *input)
{
	input->rule = SHARE_CPU_TIME;
	input->dynamic_weights = input->time_weights;
	input->dropped_weight = input->time_dropped;
	input->unseen_weight = input->time_unseen;
	input->time_weights = NULL;
	input->time_dropped = input->time_unseen = 0;
}

uint64_t attribution_time_dropped(const struct attribution_input *input)
{
	return share_rule_has_signals(input->rule) ? input->time_dropped : input->dropped_weight;
}

uint64_t attribution_time_unseen(const struct attribution_input *input)
{
	return share_rule_has_signals(input->rule) ? input->time_unseen : input->unseen_weight;
}

bool attribution_has_weights(const struct attribution_input *input)
{
	bool has = input->dropped_weight || input->unseen_weight;

	for (size_t i = 0; i < input->count && !has; i++)
		has = input->dynamic_weights[i] != 0;
	return has;
}

static void clear_parts(uint64_t *parts, size_t count)
{
	if (count)
		memset(parts, 0, count * sizeof(*parts));
}

/* The sides between which the energy of a mode is split. */
struct sharers {
	const uint64_t *weights; /* of processes */
	size_t count;
	uint64_t dropped, unseen; /* weights of the other work */
};

/* Parts the energy of @mode. -EOVERFLOW, -ENOMEM or 0. */
static int share_out(const struct sharers *sharers, enum energy_mode mode,
		     struct attribution_result *result, struct split_scratch *scratch)
{
	uint64_t sides[] = { 0, sharers->dropped, sharers->unseen };
	uint64_t energies[ARRAY_SIZE(sides)];
	uint64_t *unattributed = result->unattributed_uj[mode];
	int r;

	for (size_t i = 0; i < sharers->count; i++) {
		if (__builtin_add_overflow(sides[0], sharers->weights[i], &sides[0]))
			return -EOVERFLOW;
	}
	r = split_exact(result->mode_uj[mode], sides, ARRAY_SIZE(sides), energies, scratch);
	if (r == -EDOM) {
		unattributed[UNATTRIBUTED_NO_ACTIVITY] = result->mode_uj[mode];
		return 0;
	}
	if (r < 0)
		return r;
	unattributed[UNATTRIBUTED_DROPPED] = energies[1];
	unattributed[UNATTRIBUTED_UNSEEN] = energies[2];
	if (!sides[0])
		return 0;
	return split_exact(energies[0], sharers->weights, sharers->count, result->parts[mode],
			   scratch);
}

static int share_idle(const struct attribution_input *input, struct attribution_result *result,
		      struct split_scratch *scratch)
{
	struct sharers sharers = { .weights = input->idle_weights, .count = input->count };

	if (input->idle_share == IDLE_SHARE_NODE) {
		result->unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY] =
			result->mode_uj[MODE_IDLE];
		return 0;
	}
	if (input->idle_share == IDLE_SHARE_USAGE) {
		sharers.dropped = attribution_time_dropped(input);
		sharers.unseen = attribution_time_unseen(input);
	} else if (input->idle_share == IDLE_SHARE_ALLOCATION) {
		sharers.dropped = input->idle_dropped_weight;
	}
	return share_out(&sharers, MODE_IDLE, result, scratch);
}

static void leave_unattributed(const struct attribution_input *input,
			       struct attribution_result *result)
{
	memset(result->unattributed_uj, 0, sizeof(result->unattributed_uj));
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		clear_parts(result->parts[mode], input->count);
		result->unattributed_uj[mode][UNATTRIBUTED_NO_ACTIVITY] = result->mode_uj[mode];
	}
}

int attribute_zone(const struct attribution_input *input, struct attribution_result *result,
		   struct split_scratch *scratch)
{
	uint64_t idle_uj = input->idle_uj < input->energy_uj ? input->idle_uj : input->energy_uj;
	const struct sharers sharers = { input->dynamic_weights, input->count,
					 input->dropped_weight, input->unseen_weight };
	int r;

	result->mode_uj[MODE_IDLE] = idle_uj;
	result->mode_uj[MODE_DYNAMIC] = input->energy_uj - idle_uj;
	memset(result->unattributed_uj, 0, sizeof(result->unattributed_uj));
	clear_parts(result->parts[MODE_DYNAMIC], input->count);
	clear_parts(result->parts[MODE_IDLE], input->count);
	r = share_out(&sharers, MODE_DYNAMIC, result, scratch);
	if (r == 0)
		r = share_idle(input, result, scratch);
	if (r < 0)
		leave_unattributed(input, result);
	return r;
}
