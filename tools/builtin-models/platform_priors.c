// SPDX-License-Identifier: Apache-2.0
#include "tools/builtin-models/platform_priors.h"

const double platform_reach[POWER_BUMP_SETS][POWER_BUMP_COUNT] = {
	[POWER_BUMPS_ALIKE] = {
		[POWER_BUMP_LN_TDP] = 2.3,     [POWER_BUMP_LN_CORES_PER_SOCKET] = 0.55,
		[POWER_BUMP_LN_SOCKETS] = 1.3, [POWER_BUMP_LN_GHZ] = 0.37,
		[POWER_BUMP_YEAR] = 0.33,      [POWER_BUMP_LN_MEMORY_PER_CORE] = 1.2,
		[POWER_BUMP_AMD] = 3.3,        [POWER_BUMP_ARM] = 0.2,
		[POWER_BUMP_SMALL] = 0.7,      [POWER_BUMP_EXPANDED] = 0.55,
		[POWER_BUMP_ENTRY] = 0.3,      [POWER_BUMP_QUAD] = 8.6,
		[POWER_BUMP_EDGE] = 2.4,       [POWER_BUMP_BUS] = 2.2,
	},
	[POWER_BUMPS_MEMORY] = {
		[POWER_BUMP_YEAR] = 0.25,
		[POWER_BUMP_LN_MEMORY_PER_CORE] = 0.2,
		[POWER_BUMP_AMD] = 0.3,
		[POWER_BUMP_ARM] = 0.3,
	},
};

const struct platform_variances platform_variances[PLATFORM_SURFACES] = {
	[PLATFORM_IDLE] = {
		.bumps = { 0.044, 0.009 }, .generation = 0.0069, .cpu = 0.0071, .noise = 0.018,
	},
	[PLATFORM_LOAD] = {
		.bumps = { 0.029, 0.003 }, .generation = 0.0075, .cpu = 0.0037, .noise = 0.0053,
	},
};

double platform_prior(size_t feature)
{
	return feature == POWER_FEATURE_ONE ? 100 : 1;
}
