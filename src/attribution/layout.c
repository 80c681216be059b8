// SPDX-License-Identifier: Apache-2.0
#include "attribution/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

const struct quantity quantity_energy = { "energy" };
const struct quantity quantity_cpu_time = { "cpu_time" };

static uint32_t add_column(struct layout *layout, struct column column)
{
	layout->column[layout->columns] = column;
	return layout->columns++;
}

int layout_init(struct layout *layout, bool by_zone)
{
	int r;

	*layout = (struct layout){ .by_zone = by_zone };
	r = layout_reserve(layout, COLUMN_CPU + 1);
	if (r == 0)
		layout_count(layout, &quantity_cpu_time);
	return r;
}

void layout_release(struct layout *layout)
{
	free(layout->accounts);
	free(layout->zones);
	free(layout->column);
}

int layout_reserve(struct layout *layout, uint32_t columns)
{
	if (ARRAY_RESERVE(layout->column, layout->column_room, columns) < 0 ||
	    ARRAY_RESERVE(layout->accounts, layout->account_room, layout->account_count + 1U) < 0)
		return -ENOMEM;
	return ARRAY_RESERVE(layout->zones, layout->zone_room, layout->zone_count + 1U);
}

static uint32_t find_account(const struct layout *layout, const struct zone *zone)
{
	for (uint32_t i = 0; i < layout->account_count && !layout->by_zone; i++) {
		if (zone_are_alike(layout_account_zone(layout, i), zone))
			return i;
	}
	return ACCOUNT_NONE;
}

/* A virtual machine's zone has no idle part: that is its host's. */
static bool may_be_idle(const struct zone *zone)
{
	return zone->scope != SCOPE_VM_DYNAMIC;
}

uint32_t layout_columns_with(const struct layout *layout, const struct zone *zone)
{
	if (find_account(layout, zone) != ACCOUNT_NONE)
		return layout->columns;
	return layout->columns + 1 + (layout->bears_idle && may_be_idle(zone));
}

uint32_t layout_columns_with_idle(const struct layout *layout)
{
	uint32_t columns = layout->columns;

	for (uint32_t i = 0; i < layout->account_count && !layout->bears_idle; i++)
		columns += may_be_idle(layout_account_zone(layout, i));
	return columns;
}

static void add_energy(struct layout *layout, uint32_t account, enum energy_mode mode)
{
	layout->accounts[account].column[mode] =
		add_column(layout, (struct column){ &quantity_energy, account, mode });
}

static void add_account(struct layout *layout, const struct zone *zone)
{
	uint32_t account = layout->account_count++;

	layout->accounts[account] = (struct account){ .first_zone = layout->zone_count,
						      .last_zone = layout->zone_count,
						      .zones = 1,
						      .column = { COLUMN_NONE, COLUMN_NONE } };
	add_energy(layout, account, MODE_DYNAMIC);
	if (layout->bears_idle && may_be_idle(zone))
		add_energy(layout, account, MODE_IDLE);
}

void layout_add_zone(struct layout *layout, const struct zone *zone)
{
	uint32_t account = find_account(layout, zone);

	if (account == ACCOUNT_NONE) {
		account = layout->account_count;
		add_account(layout, zone);
	} else {
		layout->zones[layout->accounts[account].last_zone].next = layout->zone_count;
		layout->accounts[account].last_zone = layout->zone_count;
		layout->accounts[account].zones++;
	}
	layout->zones[layout->zone_count++] =
		(struct layout_zone){ .zone = zone, .account = account, .next = ZONE_NONE };
}

void layout_end_zone(struct layout *layout, uint32_t zone)
{
	struct layout_zone *ending = &layout->zones[zone];

	if (ending->ended)
		return;
	ending->ended = true;
	layout->accounts[ending->account].ended++;
	layout->ended++;
}

void layout_revive_zone(struct layout *layout, uint32_t zone)
{
	struct layout_zone *reviving = &layout->zones[zone];

	if (!reviving->ended)
		return;
	reviving->ended = false;
	layout->accounts[reviving->account].ended--;
	layout->ended++;
}

void layout_bear_idle(struct layout *layout)
{
	for (uint32_t i = 0; i < layout->account_count && !layout->bears_idle; i++) {
		if (may_be_idle(layout_account_zone(layout, i)))
			add_energy(layout, i, MODE_IDLE);
	}
	layout->bears_idle = true;
}

void layout_count(struct layout *layout, const struct quantity *quantity)
{
	(void)add_column(layout, (struct column){ quantity, ACCOUNT_NONE, MODE_DYNAMIC });
}

uint32_t layout_find(const struct layout *layout, const struct quantity *quantity)
{
	for (uint32_t i = 0; i < layout->columns; i++) {
		if (layout->column[i].quantity == quantity)
			return i;
	}
	return COLUMN_NONE;
}

uint32_t layout_others(const struct layout *layout)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < layout->columns; i++)
		others += layout->column[i].account == ACCOUNT_NONE;
	return others;
}
