/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which columns a row has. Energy has one column for each kind of zone and not for each zone, so
 * that a process costs the same on a machine with eight sockets as on one with a single socket.
 *
 * An account is all zones of one kind that the same source counts with the same quality, such as
 * the packages of all sockets. They measure different parts, so that their energies can be added
 * up. Each zone is split by itself, by its own shares; the part of a row is added to the account's
 * column of that mode. So every rule for a zone (ledger.h) also holds for the sum of an account's
 * zones. If rows have a column for each zone, an account is one zone.
 *
 * Columns of idle energy exist only once rows can have any, and columns of counters (instructions,
 * packets, bytes) once these are known. CPU time is known from the start, so its column is the
 * first. A column keeps its number: new columns follow after it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "energy/quantity.h"
#include "energy/zone.h"

#define COLUMN_NONE  UINT32_MAX
#define COLUMN_CPU   0U /* CPU time, in ns */
#define ACCOUNT_NONE UINT32_MAX
#define ZONE_NONE    UINT32_MAX

/* A column: a row has one value of it. */
struct column {
	const struct quantity *quantity;
	uint32_t account;      /* whose energy it is; ACCOUNT_NONE: not energy */
	enum energy_mode mode; /* of energy */
};

extern const struct quantity quantity_energy, quantity_cpu_time;

struct account {
	uint32_t first_zone; /* the others have its kind, source and quality */
	uint32_t last_zone;
	uint32_t zones;              /* how many */
	uint32_t ended;              /* how many of these have ended */
	uint32_t column[MODE_COUNT]; /* COLUMN_NONE: rows have no energy of this mode */
};

struct layout_zone {
	const struct zone *zone; /* borrowed */
	uint32_t account;
	uint32_t next; /* zone of the account; ZONE_NONE: it is the last */
	bool ended;    /* another source is charged */
};

struct layout {
	bool by_zone; /* an account is one zone */
	bool bears_idle;
	struct account *accounts; /* [account_count], in the order of their first zones */
	uint32_t account_count, account_room;
	struct layout_zone *zones; /* [zone_count] */
	uint32_t zone_count, zone_room;
	struct column *column; /* [columns] */
	uint32_t columns, column_room;
	uint32_t ended; /* times that a zone has ended or was revived */
};

/* 0 or -ENOMEM; layout_release() is due in either case. */
int layout_init(struct layout *layout, bool by_zone);
void layout_release(struct layout *layout);
/*
 * Makes room for one more zone, and for @columns columns in all: what adds no more than that cannot
 * fail. 0 or -ENOMEM.
 */
int layout_reserve(struct layout *layout, uint32_t columns);
/* The number of columns with @zone added, or once rows get idle energy. */
uint32_t layout_columns_with(const struct layout *layout, const struct zone *zone);
uint32_t layout_columns_with_idle(const struct layout *layout);
/* @zone lives as long as the layout; its number is zone_count before the call. */
void layout_add_zone(struct layout *layout, const struct zone *zone);
/* Another source is charged for its energy from now on. A second call has no effect. */
void layout_end_zone(struct layout *layout, uint32_t zone);
/*
 * The zone is charged again, in place of the source that had taken over. A second call has no
 * effect.
 */
void layout_revive_zone(struct layout *layout, uint32_t zone);
/* From now on rows can have idle energy, where a zone has any. */
void layout_bear_idle(struct layout *layout);
/* From now on rows have a counter of @quantity, and keep it. They must not have one yet. */
void layout_count(struct layout *layout, const struct quantity *quantity);
/* The column of a row's counter of @quantity; COLUMN_NONE: no row has one. */
uint32_t layout_find(const struct layout *layout, const struct quantity *quantity);
/* How many columns are not energy. */
uint32_t layout_others(const struct layout *layout);

static inline const struct account *layout_account_of(const struct layout *layout, uint32_t zone)
{
	return &layout->accounts[layout->zones[zone].account];
}

/* The column of a row's part of @zone in @mode; COLUMN_NONE: no row can have any. */
static inline uint32_t layout_column(const struct layout *layout, uint32_t zone,
				     enum energy_mode mode)
{
	return layout_account_of(layout, zone)->column[mode];
}

/* The properties that all zones of an account share. */
static inline const struct zone *layout_account_zone(const struct layout *layout, uint32_t account)
{
	return layout->zones[layout->accounts[account].first_zone].zone;
}

/* Have all of its zones ended? */
static inline bool account_has_ended(const struct account *account)
{
	return account->ended == account->zones;
}

/* The energy in @mode among a row's @values; 0 where rows have none. */
static inline uint64_t account_value(const struct account *account, enum energy_mode mode,
				     const uint64_t *values)
{
	return account->column[mode] == COLUMN_NONE ? 0 : values[account->column[mode]];
}

/* The same in all modes. */
static inline uint64_t account_sum(const struct account *account, const uint64_t *values)
{
	return account_value(account, MODE_DYNAMIC, values) +
	       account_value(account, MODE_IDLE, values);
}
