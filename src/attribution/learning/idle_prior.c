// SPDX-License-Identifier: Apache-2.0
/*
 * Cores, uncores and devices are in no built-in model. They have the package's shares, which are
 * the lowest: their bound is too low rather than too high.
 */
#include "attribution/learning/idle_prior.h"

static const double platform[IDLE_SHARE_LEVELS] = { 1,     0.692, 0.610, 0.546, 0.499, 0.459,
						    0.407, 0.349, 0.308, 0.269, 0.250 };
static const double package[IDLE_SHARE_LEVELS] = { 1,     0.606, 0.499, 0.433, 0.386, 0.348,
						   0.301, 0.251, 0.218, 0.186, 0.172 };
static const double dram[IDLE_SHARE_LEVELS] = { 1,     0.919, 0.871, 0.852, 0.833, 0.815,
						0.791, 0.761, 0.743, 0.724, 0.715 };

const double *idle_prior_share(enum zone_kind kind)
{
	if (zone_kind_info[kind].is_whole || kind == ZONE_OTHER)
		return platform;
	return kind == ZONE_DRAM ? dram : package;
}
