/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fit of the platform model as weights, which power_model_estimate() applies, with what that
 * needs of the population: its ranges, its limits, and typical machines.
 *
 * The prediction of a regression with Gaussian priors is a sum of covariances with all machines;
 * each part of it is a sum over features, centres, generations and CPU models, whose factors are
 * these weights. Only the offset of a CPU model is simplified, to its mean over all levels of load.
 */
#pragma once

#include "tools/builtin-models/platform_fit.h"

/* A model and all that its weights point to; it stays where it was made. */
struct platform_model {
	struct power_model model;
	struct power_model_weights weights;
	struct power_generation *generations; /* by vendor, year, size */
	struct power_cpu *cpus;               /* by key */
};

/*
 * Bounds and errors are 0. Its texts belong to the types. 0, or -ENOMEM with a diagnosis.
 */
int platform_model_make(const struct platform_fit *fit, struct platform_model *ret,
			struct diag *diag);
void platform_model_release(struct platform_model *model);
