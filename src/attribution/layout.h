/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which columns a row has. Energy has one column for each kind of zone and not for each zone, so
 * that a process costs the same on a machine with eight sockets as on one with a single socket.
 *
 * An account is all zones of one kind that the same source counts with the same quality, such as
 * the packages of all sockets. They measure different parts, so that their energies can be added
 * up. Each zone is split by itself, by its own shares; the part of a row is added to the account's
 * column of that mode. So what holds for each of its zones (ledger.h) holds for their sum. Where
 * rows tell zones apart, an account is one zone.
 *
 * Columns of idle energy exist only once rows can have any, and those of counters (SIGNALS_COUNTERS
 * of energy/signal.h: instructions, packets) once they are known. The last column is CPU time: a
 * new column is put before it, and all others keep their number. Pure.
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
	uint32_t ended;              /* how many of these have ended */
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
	uint32_t ended;                 /* times that a zone has ended or was revived */
	uint32_t counters;              /* SIGNAL_BIT()s that rows have a column of */
	uint32_t counter[SIGNAL_COUNT]; /* their columns; of other signals undefined */
};

void layout_init(struct layout *layout, bool by_zone);
void layout_release(struct layout *layout);
/* Makes room for one more zone: layout_add_zone() cannot fail then. 0 or -ENOMEM. */
int layout_reserve(struct layout *layout);
/*
 * The number of columns after each of the changes below: with @zone added; once rows bear idle
 * energy; once they have counters of @signals, as SIGNAL_BIT()s.
 */
uint32_t layout_columns_with(const struct layout *layout, const struct zone *zone);
uint32_t layout_columns_with_idle(const struct layout *layout);
uint32_t layout_columns_with_counters(const struct layout *layout, uint32_t signals);
/* @zone lives as long as the layout; its number is zone_count before the call. */
void layout_add_zone(struct layout *layout, const struct zone *zone);
/* Another source is charged for its energy from now on. A second call has no effect. */
void layout_end_zone(struct layout *layout, uint32_t zone);
/* It is charged again, in place of the source that had taken over. Likewise. */
void layout_revive_zone(struct layout *layout, uint32_t zone);
/* From now on rows can have idle energy, where a zone has any. */
void layout_bear_idle(struct layout *layout);
/* From now on rows have a counter of each of @signals, and keep it. */
void layout_count(struct layout *layout, uint32_t signals);

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

/* The column of a row's counter of @signal; COLUMN_NONE: no row has one. */
static inline uint32_t layout_counter(const struct layout *layout, enum signal signal)
{
	return layout->counters & SIGNAL_BIT(signal) ? layout->counter[signal] : COLUMN_NONE;
}

/* What all zones of an account share. */
static inline const struct zone *layout_account_zone(const struct layout *layout, uint32_t account)
{
	return layout->zones[layout->accounts[account].first_zone].zone;
}

/* Whether all of its zones have ended. */
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
