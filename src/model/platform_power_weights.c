// SPDX-License-Identifier: Apache-2.0
/*
 * Written by tools/fit-platform-power.py on 2026-11-21; do not edit. Fitted weights, our own.
 *
 * Fitted to results of the SPECpower_ssj2008 benchmark (Standard Performance Evaluation Corporation, www.spec.org;
 * SPEC and SPECpower_ssj are its trademarks), read from a processed table of 248 machine types and 8008 load levels.
 * Leave-one-machine-type-out: 39.3 W, 17.4 % over all levels; idle 22.6 %, full load 14.7 %.
 * Leave-one-CPU-model-out: 40.4 W, 17.8 %; idle 23.1 %, full load 15.1 %.
 */
#include "model/platform_power_weights.h"

/* clang-format off */
static const struct power_model_weights weights = {
	.idle = { /* ln W */
		[POWER_FEATURE_ONE] = 4.75395,
		[POWER_FEATURE_LN_CORES] = 0.03129,
		[POWER_FEATURE_LN_CHIPS] = 0.62196,
		[POWER_FEATURE_LN_MEMORY] = 0.35280,
		[POWER_FEATURE_LN_GHZ] = -0.30904,
		[POWER_FEATURE_YEAR] = -1.67617,
		[POWER_FEATURE_YEAR_2007] = -0.37299,
		[POWER_FEATURE_YEAR_2010] = 0.08897,
		[POWER_FEATURE_YEAR_2014] = 2.30701,
		[POWER_FEATURE_YEAR_2018] = 1.15721,
		[POWER_FEATURE_AMD] = -0.07660,
		[POWER_FEATURE_ARM] = 0.64868,
		[POWER_FEATURE_ZEN] = 0.13985,
		[POWER_FEATURE_LN_GHZ_BY_YEAR] = -0.57241,
	},
	.full = { /* ln W */
		[POWER_FEATURE_ONE] = 4.08325,
		[POWER_FEATURE_LN_CORES] = 0.48321,
		[POWER_FEATURE_LN_CHIPS] = 0.34589,
		[POWER_FEATURE_LN_MEMORY] = 0.19969,
		[POWER_FEATURE_LN_GHZ] = 0.43285,
		[POWER_FEATURE_YEAR] = -1.69544,
		[POWER_FEATURE_YEAR_2007] = 1.30093,
		[POWER_FEATURE_YEAR_2010] = -0.21209,
		[POWER_FEATURE_YEAR_2014] = 1.05051,
		[POWER_FEATURE_YEAR_2018] = 0.69470,
		[POWER_FEATURE_AMD] = -0.11895,
		[POWER_FEATURE_ARM] = -0.63375,
		[POWER_FEATURE_ZEN] = -0.27892,
		[POWER_FEATURE_LN_GHZ_BY_YEAR] = -0.87260,
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
	.loo_mape_percent = 17.4,
	.loo_mae_w = 39.3,
	.weights = &weights,
};
/* clang-format on */
