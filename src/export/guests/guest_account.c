// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_account.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"
#include "base/text/uuid.h"

#define PPM 1e6

/* The error of a model, as a part of the estimated power of all zones of the account. */
static uint32_t uncertainty_ppm(const struct snapshot *snapshot,
				const struct snapshot_account *account)
{
	const struct zone *first = &snapshot->zones[account->first_zone].zone;
	double error_w = 0, power_w = 0;

	for (uint32_t i = account->first_zone; i < snapshot->zone_count; i++) {
		const struct snapshot_zone *zone = &snapshot->zones[i];

		if (zone->zone.kind != first->kind || zone->zone.quality != first->quality ||
		    zone->ended)
			continue;
		error_w += zone->model_error_w;
		for (unsigned mode = 0; mode < MODE_COUNT; mode++)
			power_w += zone->has_mode[mode] ? zone->watts[mode] : 0;
	}
	if (!isfinite(error_w) || !isfinite(power_w) || power_w <= 0 ||
	    error_w / power_w >= UINT32_MAX / PPM)
		return PASSTHROUGH_UNCERTAINTY_UNKNOWN;
	return (uint32_t)(error_w / power_w * PPM);
}

static struct passthrough_zone *zone_of(struct passthrough_record *record, const struct zone *zone)
{
	struct passthrough_zone *found = record->zones;

	for (; found < record->zones + record->zone_count; found++) {
		if (found->kind == zone->kind && found->quality == zone->quality)
			return found;
	}
	if (record->zone_count == PASSTHROUGH_ZONES_MAX)
		return NULL;
	record->zone_count++;
	*found = (struct passthrough_zone){ .kind = zone->kind, .quality = zone->quality };
	return found;
}

static void add_account(struct passthrough_record *record, const struct snapshot *snapshot,
			const struct snapshot_account *account, const uint64_t *values,
			const struct guest_account_options *options)
{
	struct passthrough_zone *zone;

	if (!account->rows_have_mode[MODE_DYNAMIC])
		return;
	zone = zone_of(record, &snapshot->zones[account->first_zone].zone);
	if (!zone)
		return;
	zone->uncertainty_ppm = uncertainty_ppm(snapshot, account);
	zone->dynamic_uj += values[account->column[MODE_DYNAMIC]];
	if (!options->idle || !account->rows_have_mode[MODE_IDLE])
		return;
	zone->idle_uj += values[account->column[MODE_IDLE]];
	record->flags |= PASSTHROUGH_IDLE;
}

/* A sum is rounded, not its terms: it is off by less than one step. */
static void round_down(struct passthrough_record *record, uint64_t step_uj)
{
	if (step_uj <= 1)
		return;
	for (size_t i = 0; i < record->zone_count; i++) {
		record->zones[i].dynamic_uj -= record->zones[i].dynamic_uj % step_uj;
		record->zones[i].idle_uj -= record->zones[i].idle_uj % step_uj;
	}
	record->flags |= PASSTHROUGH_RESOLUTION;
}

/* A source that reports it may not be the one that is charged, but reads the same counters. */
static bool is_filtered(const struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->zone_count; i++) {
		if (snapshot->zones[i].caveat == CAVEAT_FILTERED)
			return true;
	}
	return false;
}

/* If intervals are shorter than a second, each n-th has a record; any may be a bit short. */
static bool is_due(uint64_t since_ns, uint64_t period_ns, uint64_t stride)
{
	return stride == 1 || since_ns + period_ns / 2 >= stride * period_ns;
}

/* An id of this form begins with the UUID: vm_owners.h. 0: there is none. */
static uint64_t hash_of(const struct guest *guest)
{
	char uuid[UUID_TEXT_LEN + 1];

	(void)snprintf(uuid, sizeof(uuid), "%.*s", UUID_TEXT_LEN, guest->id);
	return passthrough_vm_hash(uuid);
}

bool guest_account_next(struct guest *guest, const struct snapshot *snapshot,
			const struct guest_account_options *options, uint64_t boottime_ns,
			struct passthrough_record *ret)
{
	const uint64_t *values =
		snapshot->level[LEVEL_VM].values + (size_t)guest->row * snapshot->columns;
	uint64_t since_ns = boottime_ns - guest->sent_ns;
	uint64_t stride = (GUEST_RECORD_NS + options->period_ns - 1) / options->period_ns;

	if (guest->has_ended || (guest->sequence && !is_due(since_ns, options->period_ns, stride)))
		return false;
	*ret = (struct passthrough_record){
		.epoch = guest->epoch,
		.sequence = guest->sequence + 1,
		.realtime_ns = (uint64_t)snapshot->realtime_ms * NSEC_PER_MSEC,
		.boottime_ns = boottime_ns,
		.interval_ns = guest->sequence ? since_ns : 0,
		.vm_hash = hash_of(guest),
		.cpu_time_us = values[COLUMN_CPU] / 1000,
		.period_ms = (uint32_t)(stride * options->period_ns / NSEC_PER_MSEC),
	};
	for (uint32_t i = 0; i < snapshot->account_count; i++)
		add_account(ret, snapshot, &snapshot->accounts[i], values, options);
	if (is_filtered(snapshot))
		ret->flags |= PASSTHROUGH_FILTERED;
	round_down(ret, options->resolution_uj);
	guest->sequence++;
	guest->sent_ns = boottime_ns;
	return true;
}
