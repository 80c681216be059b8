/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which columns a row has: of energy one a kind and not one a zone, so that a process costs the
 * same on a machine of eight sockets as on one of one.
 *
 * An account is all zones of one kind that the same source counts with the same quality: the
 * packages of all sockets, say. Their energies are of different parts, so that a sum of them is
 * energy, too. Each zone is split by itself, by its own shares; what a row gets of it is added to
 * the account's column of that mode. So what holds for each of its zones (ledger.h) holds for their
 * sum. Where zones are to be told apart on rows, an account is one zone.
 *
 * Columns of idle energy are there only once rows can have any, and those of counters (signals of
 * work, energy/signal.h: instructions, packets) once they are known. The last column is CPU time;
 * new ones come before it, and the others keep their number. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "energy/signal.h"
#include "energy/zone.h"

#define COLUMN_NONE  UINT32_MAX
#define ACCOUNT_NONE UINT32_MAX
#define ZONE_NONE    UINT32_MAX

struct account {
	uint32_t first_zone; /* the others have its kind, source and quality */
	uint32_t last_zone;
	uint32_t zones;              /* how many */
	uint32_t ended;              /* how many of them have */
	uint32_t column[MODE_COUNT]; /* COLUMN_NONE: rows have no energy of this mode */
};

struct layout_zone {
	const struct zone *zone; /* borrowed */
	uint32_t account;
	uint32_t next; /* zone of the account; ZONE_NONE behind the last */
	bool ended;    /* another source is charged */
};

struct layout {
	bool by_zone; /* an account is one zone */
	bool bears_idle;
	struct account *accounts; /* [account_count], in the order of their first zones */
	uint32_t account_count, account_room;
	struct layout_zone *zones; /* [zone_count] */
	uint32_t zone_count, zone_room;
	uint32_t columns;               /* > 0 */
	uint32_t ended;                 /* times that a zone has, or was revived */
	uint32_t counters;              /* SIGNAL_BIT() of those that rows have a column of */
	uint32_t counter[SIGNAL_COUNT]; /* where; of others undefined */
};

void layout_init(struct layout *layout, bool by_zone);
void layout_release(struct layout *layout);
/* Makes room for one more zone: layout_add_zone() cannot fail then. 0 or -ENOMEM. */
int layout_reserve(struct layout *layout);
/*
 * How many columns there are with @zone, too; how many once rows bear idle energy; how many once
 * they have counters of @signals, as SIGNAL_BIT().
 */
uint32_t layout_columns_with(const struct layout *layout, const struct zone *zone);
uint32_t layout_columns_with_idle(const struct layout *layout);
uint32_t layout_columns_with_counters(const struct layout *layout, uint32_t signals);
/* @zone lives as long as the layout; its number is zone_count before the call. */
void layout_add_zone(struct layout *layout, const struct zone *zone);
/* Its energy is charged by another source from now on. Again without effect. */
void layout_end_zone(struct layout *layout, uint32_t zone);
/* It is charged again, in place of what it gave way to. Likewise. */
void layout_revive_zone(struct layout *layout, uint32_t zone);
/* From now on rows can have idle energy, where a zone has any. */
void layout_bear_idle(struct layout *layout);
/* From now on rows have a counter of each of @signals, and keep it. */
void layout_count(struct layout *layout, uint32_t signals);

static inline const struct account *layout_account_of(const struct layout *layout, uint32_t zone)
{
	return &layout->accounts[layout->zones[zone].account];
}

/* Where a row has its part of @zone in @mode; COLUMN_NONE: no row can have any. */
static inline uint32_t layout_column(const struct layout *layout, uint32_t zone,
				     enum energy_mode mode)
{
	return layout_account_of(layout, zone)->column[mode];
}

/* Where a row has its counter of @signal; COLUMN_NONE: no row has one. */
static inline uint32_t layout_counter(const struct layout *layout, enum signal signal)
{
	return layout->counters & SIGNAL_BIT(signal) ? layout->counter[signal] : COLUMN_NONE;
}

/* What all zones of an account share. */
static inline const struct zone *layout_account_zone(const struct layout *layout, uint32_t account)
{
	return layout->zones[layout->accounts[account].first_zone].zone;
}

/* Whether no zone of it counts any more. */
static inline bool account_has_ended(const struct account *account)
{
	return account->ended == account->zones;
}

/* Of a row's @values in @mode; 0 where rows have none. */
static inline uint64_t account_value(const struct account *account, enum energy_mode mode,
				     const uint64_t *values)
{
	return account->column[mode] == COLUMN_NONE ? 0 : values[account->column[mode]];
}

/* Of all modes. */
static inline uint64_t account_sum(const struct account *account, const uint64_t *values)
{
	return account_value(account, MODE_DYNAMIC, values) +
	       account_value(account, MODE_IDLE, values);
}
