// SPDX-License-Identifier: Apache-2.0
/*
 * A record is judged as a whole before anything of it counts. Its values are the baseline of the
 * next one in any case: else a jump that is refused would be believed later, when enough time has
 * gone by to make it plausible.
 *
 * Plausible is what the zone can draw since its energy last changed, not in one interval: a meter
 * of the host that stalls reports the energy of all that time at once.
 */
#include "passthrough/passthrough_account.h"

#include <string.h>

#include "base/num.h"

/* A host can state any number: what it says adds up to the limit, and never begins again. */
static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

static struct passthrough_epoch *find_epoch(struct passthrough_account *account, uint64_t id)
{
	for (size_t i = 0; i < PASSTHROUGH_EPOCHS_MAX; i++) {
		if (account->epochs[i].id == id)
			return &account->epochs[i];
	}
	return NULL;
}

/* In place of the one that was not used for longest. */
static struct passthrough_epoch *add_epoch(struct passthrough_account *account, uint64_t id)
{
	struct passthrough_epoch *oldest = &account->epochs[0];

	for (size_t i = 1; i < PASSTHROUGH_EPOCHS_MAX; i++) {
		if (account->epochs[i].used < oldest->used)
			oldest = &account->epochs[i];
	}
	*oldest = (struct passthrough_epoch){ .id = id };
	account->epoch_count++;
	return oldest;
}

static struct passthrough_last *find_last(struct passthrough_epoch *epoch,
					  const struct passthrough_zone *zone)
{
	for (size_t i = 0; i < epoch->count; i++) {
		if (epoch->last[i].zone.kind == zone->kind &&
		    epoch->last[i].zone.quality == zone->quality)
			return &epoch->last[i];
	}
	return NULL;
}

/* The zone's values before this record; false: there are none to count from. */
static bool find_before(struct passthrough_epoch *epoch, const struct passthrough_record *record,
			const struct passthrough_zone *zone, struct passthrough_last *ret)
{
	const struct passthrough_last *last = find_last(epoch, zone);

	if (last) {
		*ret = *last;
		return true;
	}
	*ret = (struct passthrough_last){
		.zone = { .kind = zone->kind, .quality = zone->quality },
		.moved_ns = record->boottime_ns > record->interval_ns
				    ? record->boottime_ns - record->interval_ns
				    : 0,
	};
	return record->sequence == 1;
}

/* The most that can have flowed; saturates. */
static uint64_t energy_limit(enum zone_kind kind, uint64_t elapsed_ns)
{
	unsigned __int128 limit = ((unsigned __int128)elapsed_ns + PASSTHROUGH_SLACK_NS) *
				  zone_kind_info[kind].max_power_uw / NSEC_PER_SEC;

	return limit > UINT64_MAX ? UINT64_MAX : (uint64_t)limit;
}

static struct passthrough_sum *find_sum(struct passthrough_account *account,
					const struct passthrough_zone *zone, bool has_idle)
{
	struct passthrough_sum *sum = account->sums;

	for (; sum < account->sums + account->sum_count; sum++) {
		if (sum->kind == zone->kind && sum->quality == zone->quality &&
		    sum->has_idle == has_idle)
			return sum;
	}
	*sum = (struct passthrough_sum){ zone->kind, zone->quality, .has_idle = has_idle };
	account->sum_count++;
	return sum;
}

static enum passthrough_outcome judge_zone(struct passthrough_account *account,
					   struct passthrough_epoch *epoch,
					   const struct passthrough_record *record,
					   const struct passthrough_zone *zone)
{
	const struct passthrough_sum *sum =
		find_sum(account, zone, record->flags & PASSTHROUGH_IDLE);
	struct passthrough_last before;
	uint64_t delta_uj, total_uj;

	if (!find_before(epoch, record, zone, &before))
		return PASSTHROUGH_COUNTED;
	if (zone->dynamic_uj < before.zone.dynamic_uj || zone->idle_uj < before.zone.idle_uj)
		return PASSTHROUGH_FELL;
	delta_uj = zone->dynamic_uj - before.zone.dynamic_uj + zone->idle_uj - before.zone.idle_uj;
	if (delta_uj > energy_limit(zone->kind, record->boottime_ns - before.moved_ns) ||
	    __builtin_add_overflow(sum->energy_uj, delta_uj, &total_uj))
		return PASSTHROUGH_IMPLAUSIBLE;
	return PASSTHROUGH_COUNTED;
}

static enum passthrough_outcome judge(struct passthrough_account *account,
				      struct passthrough_epoch *epoch,
				      const struct passthrough_record *record)
{
	enum passthrough_outcome outcome = PASSTHROUGH_COUNTED;

	if (!epoch->sequence && record->sequence != 1)
		return PASSTHROUGH_BEGUN;
	if (record->boottime_ns < epoch->boottime_ns || record->cpu_time_us < epoch->cpu_time_us)
		return PASSTHROUGH_FELL;
	for (size_t i = 0; i < record->zone_count && outcome == PASSTHROUGH_COUNTED; i++)
		outcome = judge_zone(account, epoch, record, &record->zones[i]);
	return outcome;
}

/* Counts what the zone has used since the record before, or says that this is not known. */
static void count_zone(struct passthrough_account *account, struct passthrough_epoch *epoch,
		       const struct passthrough_record *record, const struct passthrough_zone *zone,
		       bool counts)
{
	struct passthrough_sum *sum = find_sum(account, zone, record->flags & PASSTHROUGH_IDLE);
	struct passthrough_last before, *last = find_last(epoch, zone);
	uint64_t idle_uj, dynamic_uj;

	sum->uncertainty_ppm = zone->uncertainty_ppm;
	counts &= find_before(epoch, record, zone, &before);
	sum->updates += counts || !sum->updates;
	if (counts) {
		idle_uj = zone->idle_uj - before.zone.idle_uj;
		dynamic_uj = zone->dynamic_uj - before.zone.dynamic_uj;
		sum->idle_uj += idle_uj;
		sum->energy_uj += idle_uj + dynamic_uj;
	}
	if (!last)
		last = &epoch->last[epoch->count++];
	if (zone->dynamic_uj != before.zone.dynamic_uj || zone->idle_uj != before.zone.idle_uj ||
	    !counts)
		before.moved_ns = record->boottime_ns;
	*last = (struct passthrough_last){ *zone, before.moved_ns };
}

enum passthrough_outcome passthrough_account_take(struct passthrough_account *account,
						  const struct passthrough_record *record)
{
	struct passthrough_epoch *epoch;
	enum passthrough_outcome outcome;

	if (account->vm_hash && record->vm_hash && account->vm_hash != record->vm_hash) {
		account->outcomes[PASSTHROUGH_WRONG_VM]++;
		return PASSTHROUGH_WRONG_VM;
	}
	epoch = find_epoch(account, record->epoch);
	if (epoch && record->sequence <= epoch->sequence) {
		account->outcomes[PASSTHROUGH_REPEATED]++;
		return PASSTHROUGH_REPEATED;
	}
	if (!epoch)
		epoch = add_epoch(account, record->epoch);
	else
		add_up(&account->lost, record->sequence - epoch->sequence - 1);
	outcome = judge(account, epoch, record);
	if (outcome == PASSTHROUGH_COUNTED)
		add_up(&account->cpu_time_us, record->cpu_time_us - epoch->cpu_time_us);
	for (size_t i = 0; i < record->zone_count; i++)
		count_zone(account, epoch, record, &record->zones[i],
			   outcome == PASSTHROUGH_COUNTED);
	account->flags = record->flags;
	epoch->sequence = record->sequence;
	epoch->boottime_ns = record->boottime_ns;
	epoch->cpu_time_us = record->cpu_time_us;
	epoch->used = ++account->uses;
	account->outcomes[outcome]++;
	return outcome;
}
