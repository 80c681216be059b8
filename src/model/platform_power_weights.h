/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fitted model as data: the structure of the weights that the tool writes and platform_power.c
 * applies.
 */
#pragma once

enum power_feature {
	POWER_FEATURE_ONE,
	POWER_FEATURE_LN_CORES,
	POWER_FEATURE_LN_CHIPS,
	POWER_FEATURE_LN_MEMORY, /* GiB */
	POWER_FEATURE_LN_GHZ,
	POWER_FEATURE_YEAR,      /* decades since 2000 */
	POWER_FEATURE_YEAR_2007, /* decades since the knot, 0 before it */
	POWER_FEATURE_YEAR_2010,
	POWER_FEATURE_YEAR_2014,
	POWER_FEATURE_YEAR_2018,
	POWER_FEATURE_AMD, /* 0 or 1 */
	POWER_FEATURE_ARM,
	POWER_FEATURE_ZEN,            /* AMD from 2017 on */
	POWER_FEATURE_LN_GHZ_BY_YEAR, /* ln GHz × decades since 2014 */
	POWER_FEATURE_COUNT,
};

#define POWER_YEAR_KNOTS      4
#define POWER_CURVE_LEVELS    10
#define POWER_TYPICAL_CLASSES 7

/*
 * Medians of the machines of a year class; the last class with a year_from that is not later
 * applies.
 */
struct typical_machine {
	unsigned year_from;
	unsigned cores_per_socket;
	unsigned sockets;
	double memory_gib_per_core;
	double frequency_ghz;
};

struct power_model_weights {
	double idle[POWER_FEATURE_COUNT]; /* features → ln W */
	double full[POWER_FEATURE_COUNT];
	unsigned year_knots[POWER_YEAR_KNOTS];
	double curve[POWER_CURVE_LEVELS - 1]
		    [2]; /* at 0.1 … 0.9: value in 2014, change in a decade */
	struct typical_machine typical[POWER_TYPICAL_CLASSES];
	unsigned year_typical; /* of the whole population */
	/* The population's bounds: facts beyond them are clamped. */
	unsigned year_min, year_max;
	unsigned cores_max, sockets_max;
	double memory_gib_min, memory_gib_max;
	double frequency_ghz_min, frequency_ghz_max;
};

struct power_model {
	const char *name;        /* "specpower-…" with a version */
	const char *trained_on;  /* "SPECpower_ssj2008, N machine types" */
	double loo_mape_percent; /* leave-one-machine-out, total power */
	double loo_mae_w;
	const struct power_model_weights *weights;
};

extern const struct power_model platform_power_model;
