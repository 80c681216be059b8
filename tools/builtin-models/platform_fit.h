/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The platform model as a regression with Gaussian priors (docs/design/platform-power-model.md):
 *
 *   ln W at each level = linear part + two sets of bumps around centres + offset a generation
 *                        + offset a CPU model
 *
 * Idle power and power under load are two surfaces with variances of their own over one design: the
 * machines' features, and how similar each is to each centre. Bumps around centres are the subset
 * of regressors (Rasmussen and Williams, section 8.3.1).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/platform_power.h"
#include "tools/builtin-models/kriging.h"
#include "tools/builtin-models/platform_priors.h"
#include "tools/builtin-models/platform_types.h"

/* Parts of the model in addition to the linear one of the simplest facts; flags. */
enum platform_part {
	PLATFORM_TDP = 1,
	PLATFORM_SEGMENTS = 2,
	PLATFORM_BUMPS = 4,
	PLATFORM_GENERATIONS = 8,
	PLATFORM_CPUS = 16,
	PLATFORM_MEMORY = 32, /* bumps in memory a core */
	PLATFORM_PARTS = 63,
};

/* A set of bumps; its arrays are NULL if it is not part of the model. */
struct platform_bumps {
	double centers[POWER_CENTERS * POWER_BUMP_COUNT]; /* over reach */
	double *similarity;                               /* [count × POWER_CENTERS] */
	double *to_centers; /* [count × POWER_CENTERS]: the centres' own covariance⁻¹ × that */
};

/* Each machine once, in the order of the types. */
struct platform_design {
	const struct platform_type *const *types; /* borrowed */
	size_t count;
	double tdp[POWER_TDP_COUNT];      /* ln W of a likely design power */
	struct platform_machine *machine; /* [count], with their design power, known or likely */
	/* Features are scaled by these; those that are not used have a deviation of 0. */
	double mean[POWER_FEATURE_COUNT], deviation[POWER_FEATURE_COUNT];
	double *scaled; /* [count × POWER_FEATURE_COUNT] */
	struct platform_bumps bumps[POWER_BUMP_SETS];
};

struct platform_surface {
	size_t first_level;
	struct kriging fit; /* its outputs are levels */
};

struct platform_fit {
	unsigned parts;
	struct platform_design design;
	struct platform_surface surface[PLATFORM_SURFACES];
};

/*
 * Fits to @types [count], which is kept until the release. 0, or with a diagnosis -ENOMEM, -EINVAL,
 * or as lapack_library_get().
 */
int platform_fit(const struct platform_type *const *types, size_t count, unsigned parts,
		 struct platform_fit *ret, struct diag *diag);
void platform_fit_release(struct platform_fit *fit);

/* Returns true if two machines share the offset of a generation. */
bool platform_same_generation(const struct machine_facts *a, const struct machine_facts *b);
/*
 * ln W at all levels of each machine by the model without its group's machines (@group [count],
 * each below count) into @ret [count × POWER_LEVELS]. @unnamed: evaluated as if the names of
 * the CPUs were unknown. 0, or errors as above.
 */
int platform_fit_hold_out(const struct platform_fit *fit, const uint32_t *group, bool unnamed,
			  double *ret, struct diag *diag);
