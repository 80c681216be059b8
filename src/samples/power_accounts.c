// SPDX-License-Identifier: Apache-2.0
#include "samples/power_accounts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "energy/zone.h"

#define USEC_PER_SEC 1e6
#define COVER_SLACK  1e-6 /* of sums of parts of a step */

int power_accounts_find(struct power_accounts *accounts, const struct metric_kind *kind,
			uint32_t package, bool is_idle, unsigned order, size_t steps)
{
	struct power_account *account;

	for (size_t i = 0; i < accounts->count; i++) {
		account = &accounts->accounts[i];
		if (account->package == package && account->is_idle == is_idle &&
		    account->order == order && strcmp(account->component, kind->name) == 0)
			return (int)i;
	}
	if (accounts->count == POWER_ACCOUNTS_MAX)
		return -ENOSPC;
	if (!accounts->accounts)
		accounts->accounts = calloc(POWER_ACCOUNTS_MAX, sizeof(*accounts->accounts));
	if (!accounts->accounts)
		return -ENOMEM;
	account = &accounts->accounts[accounts->count];
	account->energy_j = calloc(steps + 1, sizeof(double));
	account->covered = calloc(steps + 1, sizeof(double));
	if (!account->energy_j || !account->covered) {
		free(account->energy_j);
		free(account->covered);
		*account = (struct power_account){ .package = 0 };
		return -ENOMEM;
	}
	(void)snprintf(account->component, sizeof(account->component), "%s", kind->name);
	account->package = package;
	account->is_idle = is_idle;
	account->order = order;
	account->first_us = INT64_MAX;
	account->last_us = INT64_MIN;
	return (int)accounts->count++;
}

/* In W; a component of an unknown kind may have as much as a whole machine. */
static double highest_watts(const char *component)
{
	for (int kind = 0; kind < ZONE_KIND_COUNT; kind++) {
		if (strcmp(zone_kind_name((enum zone_kind)kind), component) == 0)
			return (double)zone_kind_info[kind].max_power_uw / (double)UJ_PER_J;
	}
	return (double)zone_kind_info[ZONE_PLATFORM].max_power_uw / (double)UJ_PER_J;
}

void power_accounts_add(struct power_accounts *accounts, size_t index, struct sample_grid *grid,
			int64_t from_us, int64_t to_us, double energy_j)
{
	struct power_account *account = &accounts->accounts[index];
	struct grid_part parts[COVER_PARTS_MAX + 1];
	double seconds = (double)(to_us - from_us) / USEC_PER_SEC;
	size_t count;

	if (energy_j < 0 || energy_j > highest_watts(account->component) * seconds) {
		accounts->implausible++;
		return;
	}
	account->first_us = from_us < account->first_us ? from_us : account->first_us;
	account->last_us = to_us > account->last_us ? to_us : account->last_us;
	count = grid_cover_add(&account->cover, from_us, to_us, parts);
	accounts->duplicates += count == 0;
	for (size_t i = 0; i < count; i++) {
		double part = (double)(parts[i].to_us - parts[i].from_us) / USEC_PER_SEC / seconds;

		grid_spread(grid, parts[i].from_us, parts[i].to_us, energy_j * part,
			    account->energy_j, account->covered);
	}
}

static struct power_component *find_component(struct power_component *components, size_t *count,
					      const char *name)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(components[i].name, name) == 0)
			return &components[i];
	}
	if (*count == POWER_COMPONENTS_MAX)
		return NULL;
	components[*count] = (struct power_component){ .order = UINT32_MAX };
	(void)snprintf(components[*count].name, sizeof(components[*count].name), "%s", name);
	return &components[(*count)++];
}

size_t power_accounts_components(const struct power_accounts *accounts,
				 struct power_component ret[static POWER_COMPONENTS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < accounts->count; i++) {
		const struct power_account *account = &accounts->accounts[i];
		struct power_component *component;

		if (account->last_us == INT64_MIN)
			continue; /* a single point, or none that could be true */
		component = find_component(ret, &count, account->component);
		if (!component || account->order > component->order)
			continue;
		component->order = account->order;
	}
	return count;
}

static bool is_known(const struct power_account *account, const struct sample_grid *grid,
		     size_t step)
{
	if (account->is_idle && (grid->edges_us[step] < account->first_us ||
				 grid->edges_us[step + 1] > account->last_us))
		return true;
	return account->covered[step] > 1 - COVER_SLACK;
}

double power_accounts_watts(const struct power_accounts *accounts,
			    const struct power_component *component, const struct sample_grid *grid,
			    size_t step)
{
	double energy_j = 0;

	for (size_t i = 0; i < accounts->count; i++) {
		const struct power_account *account = &accounts->accounts[i];

		if (account->order != component->order || account->last_us == INT64_MIN ||
		    strcmp(account->component, component->name) != 0)
			continue;
		if (!is_known(account, grid, step))
			return (double)NAN;
		energy_j += account->energy_j[step];
	}
	return energy_j / ((double)grid_step_us(grid, step) / USEC_PER_SEC);
}

void power_accounts_release(struct power_accounts *accounts)
{
	for (size_t i = 0; i < accounts->count; i++) {
		free(accounts->accounts[i].energy_j);
		free(accounts->accounts[i].covered);
	}
	free(accounts->accounts);
	*accounts = (struct power_accounts){ 0 };
}
