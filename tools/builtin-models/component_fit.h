/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits the shares of the component model that is built in (model/component_power.h): the curve of
 * each machine by eleven levels of load, their geometric mean over CPU models, and errors on
 * machines held out with all others of their CPU model. Deterministic.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/component_power.h"

#define COMPONENT_MACHINES_MAX 16

/* The power of a component at some load of all logical CPUs, 0..1. */
struct component_row {
	double load, watts;
};

struct component_machine {
	const char *name;
	struct machine_facts facts;
	struct component_row *rows[COMPONENT_COUNT]; /* borrowed */
	size_t row_count[COMPONENT_COUNT];
};

/* The errors for a held-out machine: mean absolute errors over the levels of load. */
struct component_error {
	double mae_w, mape_percent;
	double idle_percent, half_percent, full_percent; /* (estimate − measured) / measured */
	double covered;                                  /* share of rows within the bound */
};

struct component_fit {
	struct component_weights weights;
	double curves[COMPONENT_MACHINES_MAX][COMPONENT_COUNT][COMPONENT_LEVELS]; /* W */
	struct component_error held_out[COMPONENT_MACHINES_MAX][COMPONENT_COUNT];
	struct component_error mean[COMPONENT_COUNT];
};

/*
 * Mean W of the rows within half a step of each level, of idle below 3 % load; lines between levels
 * without rows; never falling (pool of adjacent violators: Barlow et al., 1972). False if fewer
 * than two levels have rows.
 */
bool component_curve(const struct component_row *rows, size_t count,
		     double ret[static COMPONENT_LEVELS]);
/* 0, or -EINVAL with a diagnosis: a machine has too few rows, or there are too few CPU models. */
int component_fit(const struct component_machine *machines, size_t count,
		  const struct power_model *platform, struct component_fit *ret, struct diag *diag);
