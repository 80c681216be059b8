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
	static const char *const names[] = { "node", "size", "usage", "equal", "holder" };

	return (size_t)share < ARRAY_SIZE(names) ? names[share] : "unknown";
}

static void clear_parts(uint64_t *parts, size_t count)
{
	if (count)
		memset(parts, 0, count * sizeof(*parts));
}

/*
 * Parts the energy of @mode between the @weights and, where it is shared @by_usage, what has no
 * process. -EOVERFLOW, -ENOMEM or 0.
 */
static int share_out(const struct attribution_input *input, const uint64_t *weights, bool by_usage,
		     enum energy_mode mode, struct attribution_result *result,
		     struct split_scratch *scratch)
{
	uint64_t sides[] = { 0, by_usage ? input->dropped_weight : 0,
			     by_usage ? input->unseen_weight : 0 };
	uint64_t energies[ARRAY_SIZE(sides)];
	uint64_t *unattributed = result->unattributed_uj[mode];
	int r;

	for (size_t i = 0; i < input->count; i++) {
		if (__builtin_add_overflow(sides[0], weights[i], &sides[0]))
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
	return split_exact(energies[0], weights, input->count, result->parts[mode], scratch);
}

static int share_idle(const struct attribution_input *input, struct attribution_result *result,
		      struct split_scratch *scratch)
{
	bool by_usage = input->idle_share == IDLE_SHARE_USAGE;

	if (input->idle_share == IDLE_SHARE_NODE) {
		result->unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY] =
			result->mode_uj[MODE_IDLE];
		return 0;
	}
	return share_out(input, input->idle_weights, by_usage, MODE_IDLE, result, scratch);
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
	int r;

	result->mode_uj[MODE_IDLE] = idle_uj;
	result->mode_uj[MODE_DYNAMIC] = input->energy_uj - idle_uj;
	memset(result->unattributed_uj, 0, sizeof(result->unattributed_uj));
	clear_parts(result->parts[MODE_DYNAMIC], input->count);
	clear_parts(result->parts[MODE_IDLE], input->count);
	r = share_out(input, input->dynamic_weights, true, MODE_DYNAMIC, result, scratch);
	if (r == 0)
		r = share_idle(input, result, scratch);
	if (r < 0)
		leave_unattributed(input, result);
	return r;
}
