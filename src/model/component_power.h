/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the power of a machine's packages and of its memory at a given utilisation. Pure.
 *
 * It is used with the platform model if no meter exists. Packages draw a share of their
 * design power, memory draws with the fourth root of its size; both shares are fitted by
 * "builtin-models components" to the RAPL readings of five machines.
 * docs/design/component-power-model.md has the reasons, and the errors on machines held out.
 *
 * Estimates of one machine agree: package + dram is at most COMPONENT_PLATFORM_SHARE of the
 * platform's estimate, in total, at idle and above idle. There is no core: no machine of the data
 * has a reading of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/platform_power.h"

#define COMPONENT_LEVELS         11   /* idle, a tenth of the load, … full load */
#define COMPONENT_PLATFORM_SHARE 0.95 /* the best power supplies lose a twentieth */

enum component {
	COMPONENT_PACKAGE, /* of all sockets */
	COMPONENT_DRAM,
	COMPONENT_COUNT
};

/* A set of components. */
#define COMPONENT_BIT(component) (1U << (component))
#define COMPONENT_ALL            (COMPONENT_BIT(COMPONENT_COUNT) - 1)

struct component_weights {
	/* Package: W over the design power of all packages. Dram: W over fourth root of GiB. */
	double share[COMPONENT_COUNT][COMPONENT_LEVELS];
	/* ln of how many times more, or less, than the estimate: 90 % of machines are within. */
	double spread[COMPONENT_COUNT][COMPONENT_LEVELS];
};

struct component_model {
	const char *name;
	const char *trained_on;
	double mape_percent[COMPONENT_COUNT]; /* of machines held out, mean over levels */
	double mae_w[COMPONENT_COUNT];
	const struct component_weights *weights;
};

extern const struct component_model builtin_component_model;

/* The power of one machine's components at all loads. It depends on the facts alone. */
struct component_curve {
	struct power_curve whole; /* of the machine */
	double watts[COMPONENT_COUNT][COMPONENT_LEVELS];
	double most_w[COMPONENT_COUNT]; /* limit of a component's power; INFINITY: unknown */
	const struct component_weights *weights; /* borrowed */
	bool knows_tdp;
	bool outside;
};

/* @facts as for power_model_estimate(), of @platform. */
void component_curve_make(const struct component_weights *weights,
			  const struct power_model *platform, const struct machine_facts *facts,
			  struct component_curve *ret);
/*
 * @utilisation 0..1 of all logical CPUs; clamped. All results are finite and >= 0; dynamic_w never
 * falls with utilisation. The bound is doubled if the machine is outside: not an Intel server of
 * 2014 to 2023 with one or two sockets, or with memory or a design power far from the data.
 */
void component_curve_at(const struct component_curve *curve, double utilisation,
			struct power_estimate ret[static COMPONENT_COUNT]);
/* Both at once. */
void component_power_estimate(const struct component_weights *weights,
			      const struct power_model *platform, const struct machine_facts *facts,
			      double utilisation,
			      struct power_estimate ret[static COMPONENT_COUNT]);
/* A share is multiplied by it: design power of all packages, or the root of the memory. */
void component_scales(const struct machine_facts *facts, double ret[static COMPONENT_COUNT]);
