// SPDX-License-Identifier: Apache-2.0
#include "attribution/layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void layout_init(struct layout *layout, bool by_zone)
{
	*layout = (struct layout){ .by_zone = by_zone, .columns = 1 };
}

void layout_release(struct layout *layout)
{
	free(layout->accounts);
	free(layout->zones);
}

int layout_reserve(struct layout *layout)
{
	if (ARRAY_RESERVE(layout->accounts, layout->account_room, layout->account_count + 1U) < 0)
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

uint32_t layout_columns_with_counters(const struct layout *layout, uint32_t signals)
{
	return layout->columns + (uint32_t)__builtin_popcount(signals & ~layout->counters);
}

/* The new column takes the place of CPU time, which moves to the end. */
static uint32_t take_column(struct layout *layout)
{
	return layout->columns++ - 1;
}

static void add_account(struct layout *layout, const struct zone *zone)
{
	struct account *account = &layout->accounts[layout->account_count++];

	*account = (struct account){ .first_zone = layout->zone_count,
				     .last_zone = layout->zone_count,
				     .zones = 1,
				     .column = { take_column(layout), COLUMN_NONE } };
	if (layout->bears_idle && may_be_idle(zone))
		account->column[MODE_IDLE] = take_column(layout);
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
			layout->accounts[i].column[MODE_IDLE] = take_column(layout);
	}
	layout->bears_idle = true;
}

void layout_count(struct layout *layout, uint32_t signals)
{
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (!(signals & ~layout->counters & SIGNAL_BIT(signal)))
			continue;
		layout->counter[signal] = take_column(layout);
		layout->counters |= SIGNAL_BIT(signal);
	}
}
