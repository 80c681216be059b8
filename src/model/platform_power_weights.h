/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fitted model as data: the structure of the weights that builtin-models
 * writes and platform_power.c applies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Features of the linear part. */
enum power_feature {
	POWER_FEATURE_ONE,
	POWER_FEATURE_LN_CORES,
	POWER_FEATURE_LN_SOCKETS,
	POWER_FEATURE_LN_MEMORY, /* GiB */
	POWER_FEATURE_LN_GHZ,
	POWER_FEATURE_YEAR,      /* decades since 2000 */
	POWER_FEATURE_YEAR_2007, /* decades since then, 0 before it */
	POWER_FEATURE_YEAR_2010,
	POWER_FEATURE_YEAR_2014,
	POWER_FEATURE_YEAR_2018,
	POWER_FEATURE_AMD, /* 0 or 1 */
	POWER_FEATURE_ARM,
	POWER_FEATURE_ZEN,            /* AMD from 2017 on */
	POWER_FEATURE_LN_GHZ_BY_YEAR, /* × decades since 2014 */
	POWER_FEATURE_LN_TDP,         /* W of one package */
	POWER_FEATURE_LN_TDP_BY_YEAR,
	POWER_FEATURE_SMALL, /* 0 or 1, as enum cpu_segment and in its order */
	POWER_FEATURE_EXPANDED,
	POWER_FEATURE_ENTRY,
	POWER_FEATURE_QUAD,
	POWER_FEATURE_EDGE,
	POWER_FEATURE_BUS,
	POWER_FEATURE_COUNT,
};

/*
 * Bumps around centres. They describe similar machines: similar in all their facts, or in the
 * memory that cores of that vendor and those years were given.
 */
enum power_bump_set { POWER_BUMPS_ALIKE, POWER_BUMPS_MEMORY, POWER_BUMP_SETS };

/* Dimensions in which centres lie. */
enum power_bump {
	POWER_BUMP_LN_TDP,
	POWER_BUMP_LN_CORES_PER_SOCKET,
	POWER_BUMP_LN_SOCKETS,
	POWER_BUMP_LN_GHZ,
	POWER_BUMP_YEAR,
	POWER_BUMP_LN_MEMORY_PER_CORE,
	POWER_BUMP_AMD,
	POWER_BUMP_ARM,
	POWER_BUMP_SMALL,
	POWER_BUMP_EXPANDED,
	POWER_BUMP_ENTRY,
	POWER_BUMP_QUAD,
	POWER_BUMP_EDGE,
	POWER_BUMP_BUS,
	POWER_BUMP_COUNT,
};

/* ln of the design power of a CPU that cpu_tdp.c has not. */
enum power_tdp_feature {
	POWER_TDP_ONE,
	POWER_TDP_LN_CORES_PER_SOCKET,
	POWER_TDP_LN_GHZ,
	POWER_TDP_YEAR,
	POWER_TDP_YEAR_2007,
	POWER_TDP_YEAR_2010,
	POWER_TDP_YEAR_2014,
	POWER_TDP_YEAR_2018,
	POWER_TDP_AMD,
	POWER_TDP_ARM,
	POWER_TDP_ZEN,
	POWER_TDP_LOW_POWER,
	POWER_TDP_SMALL,
	POWER_TDP_EXPANDED,
	POWER_TDP_ENTRY,
	POWER_TDP_QUAD,
	POWER_TDP_EDGE,
	POWER_TDP_BUS,
	POWER_TDP_COUNT,
};

#define POWER_SEGMENTS        6
#define POWER_YEAR_KNOTS      4
#define POWER_LEVELS          11 /* idle, a tenth of the load, … full load */
#define POWER_CENTERS         96
#define POWER_TYPICAL_CLASSES 7
#define POWER_LIMIT_CLASSES   2

struct power_center {
	double at[POWER_BUMP_COUNT]; /* over power_bumps.reach */
	double ln_w[POWER_LEVELS];   /* of a machine that is here; falls off around it */
};

struct power_bumps {
	double reach[POWER_BUMP_COUNT]; /* 1 sigma; 0: no dimension of this set */
	struct power_center centers[POWER_CENTERS];
};

/* The addition of a generation of CPUs to ln W, beyond its machines' facts. */
struct power_generation {
	const char *vendor;
	unsigned year;
	bool small; /* CPU_SEGMENT_SMALL */
	double ln_w[POWER_LEVELS];
};

/* The same of a CPU model. */
struct power_cpu {
	const char *key;
	double idle_ln_w;
	double load_ln_w; /* at all levels above */
};

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

struct power_range {
	double least, most;
};

/*
 * W over the design power of all packages: the ranges of the machines from a year on, with a
 * margin. Older ones draw more outside their CPUs. The least rise is the additional power at full
 * load over the power at idle.
 */
struct power_limits {
	unsigned year_from;
	struct power_range idle, full;
	double least_rise;
};

/* How much of a machine's make is in the population. */
enum power_familiarity {
	POWER_KNOWN_CPU,
	POWER_KNOWN_GENERATION,
	POWER_UNKNOWN_GENERATION,
	POWER_UNNAMED, /* the name of the CPU is unknown */
	POWER_FAMILIARITY_COUNT
};

struct power_model_weights {
	double linear[POWER_FEATURE_COUNT][POWER_LEVELS];
	struct power_bumps bumps[POWER_BUMP_SETS];
	double tdp[POWER_TDP_COUNT];
	const struct power_generation *generations;
	size_t generation_count;
	const struct power_cpu *cpus;
	size_t cpu_count;
	/* At each level: nine of ten held-out machines lie within this share of the prediction. */
	double bound[POWER_FAMILIARITY_COUNT][POWER_LEVELS];
	struct typical_machine typical[POWER_TYPICAL_CLASSES];
	unsigned year_typical; /* of the whole population */
	/* The population's ranges: facts beyond them are clamped. */
	struct power_range year, cores, sockets, cores_per_socket, memory_gib, memory_gib_per_core,
		frequency_ghz, tdp_w;
	struct power_limits limits[POWER_LIMIT_CLASSES];
};

struct power_model {
	const char *name;        /* "specpower-…" with a version */
	const char *trained_on;  /* "SPECpower_ssj2008, N machine types" */
	double loo_mape_percent; /* leave-one-machine-out, total power */
	double loo_mae_w;
	const struct power_model_weights *weights;
};

extern const struct power_model platform_power_model;
