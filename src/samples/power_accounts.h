/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy of a node by component, package, mode and source, on the steps of a grid, and the power
 * from it. If a component has several names or sources, one of them is used. A step has a power
 * only if all of the component's energy in it is known. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samples/metric_kind.h"
#include "samples/sample_grid.h"

#define POWER_ACCOUNTS_MAX   512
#define POWER_COMPONENTS_MAX 16

struct power_account {
	char component[METRIC_FEATURE_MAX];
	uint32_t package;
	bool is_idle;   /* its counter starts when idle power is known: nothing before is missing */
	unsigned order; /* the accounts with the component's lowest order are used */
	int64_t first_us, last_us;
	double *energy_j, *covered; /* by step */
	struct grid_cover cover;
};

struct power_accounts {
	struct power_account *accounts; /* [count] of POWER_ACCOUNTS_MAX */
	size_t count;
	uint64_t implausible; /* increases that no such part can draw; left out */
	uint64_t duplicates;  /* increases of a time that another series has counted */
};

struct power_component {
	char name[METRIC_FEATURE_MAX];
	unsigned order;
};

/* Finds or adds; its index, or -ENOMEM, -ENOSPC. */
int power_accounts_find(struct power_accounts *accounts, const struct metric_kind *kind,
			uint32_t package, bool is_idle, unsigned order, size_t steps);
/* Energy that flowed in some time, as far as no other series has counted that time. */
void power_accounts_add(struct power_accounts *accounts, size_t index, struct sample_grid *grid,
			int64_t from_us, int64_t to_us, double energy_j);
/* Components in the order in which they were found; their number. */
size_t power_accounts_components(const struct power_accounts *accounts,
				 struct power_component ret[static POWER_COMPONENTS_MAX]);
/* Mean power in a step; NAN if a part of it is unknown. */
double power_accounts_watts(const struct power_accounts *accounts,
			    const struct power_component *component, const struct sample_grid *grid,
			    size_t step);
void power_accounts_release(struct power_accounts *accounts);
