/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priors of the platform model: how large each of its parts is likely to be, and how far it
 * reaches. Reaches and variances were found once, by a random search for the least error of
 * held-out types and CPU models, those of memory by a grid on halves of the CPU models; none is
 * sensitive (docs/design/platform-power-model.md).
 */
#pragma once

#include "model/platform_power_weights.h"

/* Idle power is a surface of its own: it differs more between machines with the same facts. */
enum { PLATFORM_IDLE, PLATFORM_LOAD, PLATFORM_SURFACES };

/* Variances of ln W; the noise is how much two machines with the same facts differ. */
struct platform_variances {
	double bumps[POWER_BUMP_SETS], generation, cpu, noise;
};

/* The reach of a bump, 1 sigma; 0: the dimension is not used by its set. */
extern const double platform_reach[POWER_BUMP_SETS][POWER_BUMP_COUNT];
extern const struct platform_variances platform_variances[PLATFORM_SURFACES];

/* The variance of the weight of a feature (enum power_feature) in standard deviations. */
double platform_prior(size_t feature);
