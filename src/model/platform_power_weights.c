// SPDX-License-Identifier: Apache-2.0
/*
 * Written by tools/fit-platform-power.py; do not edit. Fitted weights, our own; no measured figure is in here.
 *
 * Fitted to results of the SPECpower_ssj2008 benchmark (Standard Performance Evaluation Corporation, www.spec.org;
 * SPEC and SPECpower_ssj are its trademarks), read from a processed table of 248 machine types and 8008 load levels.
 * Leave-one-machine-type-out: 41.4 W, 18.3 % over all levels; idle 23.2 %, full load 16.1 %.
 * Leave-one-CPU-model-out: 42.8 W, 18.8 %; idle 23.8 %, full load 16.6 %.
 */
#include "model/platform_power_weights.h"
#include "model/platform_power.h"

/* clang-format off */
static const struct power_model_weights weights = {
	.idle = { /* ln W */
		[POWER_FEATURE_ONE] = 5.52967,
		[POWER_FEATURE_LN_CORES] = 0.05375,
		[POWER_FEATURE_LN_CHIPS] = 0.54910,
		[POWER_FEATURE_LN_MEMORY] = 0.36864,
		[POWER_FEATURE_LN_GHZ] = -0.24546,
		[POWER_FEATURE_YEAR] = -2.38504,
		[POWER_FEATURE_YEAR_2007] = -0.33766,
		[POWER_FEATURE_YEAR_2010] = 0.24282,
		[POWER_FEATURE_YEAR_2014] = 2.22737,
		[POWER_FEATURE_YEAR_2018] = 1.39866,
		[POWER_FEATURE_AMD] = -0.02984,
		[POWER_FEATURE_ARM] = 0.48072,
	},
	.full = { /* ln W */
		[POWER_FEATURE_ONE] = 5.21732,
		[POWER_FEATURE_LN_CORES] = 0.45466,
		[POWER_FEATURE_LN_CHIPS] = 0.38169,
		[POWER_FEATURE_LN_MEMORY] = 0.21767,
		[POWER_FEATURE_LN_GHZ] = 0.42081,
		[POWER_FEATURE_YEAR] = -2.44465,
		[POWER_FEATURE_YEAR_2007] = 1.30692,
		[POWER_FEATURE_YEAR_2010] = -0.45658,
		[POWER_FEATURE_YEAR_2014] = 1.17918,
		[POWER_FEATURE_YEAR_2018] = 1.00391,
		[POWER_FEATURE_AMD] = -0.27260,
		[POWER_FEATURE_ARM] = -0.68569,
	},
	.year_knots = { 2007, 2010, 2014, 2018 },
	.curve = { /* share of the dynamic range at each tenth of load: in 2014, change in ten years */
		{ 0.15880, 0.03774 },
		{ 0.23932, 0.01366 },
		{ 0.31736, -0.00391 },
		{ 0.39563, -0.02650 },
		{ 0.47022, -0.04470 },
		{ 0.56019, -0.05542 },
		{ 0.66043, -0.06342 },
		{ 0.77433, -0.04535 },
		{ 0.89058, -0.03309 },
	},
	.typical = { /* from year, cores a socket, sockets, GiB a core, GHz */
		{ 0, 4, 2, 2.00, 2.60 },
		{ 2009, 6, 2, 1.33, 2.40 },
		{ 2012, 8, 2, 2.00, 2.40 },
		{ 2016, 28, 2, 3.43, 2.20 },
		{ 2019, 28, 2, 3.43, 2.30 },
		{ 2021, 36, 2, 2.67, 2.30 },
		{ 2023, 56, 1, 4.00, 2.00 },
	},
	.year_typical = 2013,
	.year_min = 2005,
	.year_max = 2023,
	.cores_max = 480,
	.sockets_max = 8,
	.memory_gib_min = 4.0,
	.memory_gib_max = 2048.0,
	.frequency_ghz_min = 1.6,
	.frequency_ghz_max = 3.8,
};

const struct power_model platform_power_model = {
	.name = "specpower-platform-1",
	.trained_on = "SPECpower_ssj2008, 248 machine types",
	.loo_mape_percent = 18.3,
	.loo_mae_w = 41.4,
	.weights = &weights,
};
/* clang-format on */
