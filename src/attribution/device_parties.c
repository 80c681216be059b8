// SPDX-License-Identifier: Apache-2.0
/*
 * Sorted by counting, so that entries of a device keep their order. A container that holds a device
 * and has no process with it open gets an entry of its own.
 */
#include "attribution/device_parties.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void device_parties_begin(struct device_parties *parties)
{
	parties->count = 0;
	parties->allocation_count = 0;
	memset(parties->allocated, 0, sizeof(parties->allocated));
	memset(parties->nameless, 0, sizeof(parties->nameless));
	memset(parties->dropped_ns, 0, sizeof(parties->dropped_ns));
	memset(parties->unseen_ns, 0, sizeof(parties->unseen_ns));
	memset(parties->holders, 0, sizeof(parties->holders));
}

int device_parties_add(struct device_parties *parties, uint32_t device, uint32_t process,
		       uint32_t container, uint64_t busy_ns, uint32_t held)
{
	if (ARRAY_RESERVE(parties->entries, parties->size, parties->count + 1) < 0) {
		parties->dropped_ns[device] += busy_ns;
		return -ENOMEM;
	}
	parties->entries[parties->count++] =
		(struct device_entry){ device, { process, container }, busy_ns, held };
	parties->holders[device] += held > 0;
	return 0;
}

void device_parties_add_dropped(struct device_parties *parties, uint32_t device, uint64_t busy_ns)
{
	parties->dropped_ns[device] += busy_ns;
}

void device_parties_add_unseen(struct device_parties *parties, uint32_t device, uint64_t busy_ns)
{
	parties->unseen_ns[device] += busy_ns;
}

/* ---- allocations ---- */

int device_parties_allocate(struct device_parties *parties, uint32_t device, uint32_t container,
			    uint64_t held)
{
	if (ARRAY_RESERVE(parties->allocations, parties->allocation_size,
			  parties->allocation_count + 1) < 0) {
		device_parties_allocate_nameless(parties, device, held);
		return -ENOMEM;
	}
	parties->allocations[parties->allocation_count++] = (struct device_allocation){
		.device = device, .container = container, .held = held
	};
	parties->allocated[device] += held;
	return 0;
}

void device_parties_allocate_nameless(struct device_parties *parties, uint32_t device,
				      uint64_t held)
{
	parties->nameless[device] += held;
}

static int by_device_and_container(const void *one, const void *other)
{
	const struct device_allocation *a = one, *b = other;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->container < b->container ? -1 : a->container > b->container;
}

static struct device_allocation *find_allocation(struct device_parties *parties,
						 const struct device_entry *entry)
{
	const struct device_allocation key = { .device = entry->device,
					       .container = entry->party.container };

	if (!parties->allocation_count)
		return NULL;
	return bsearch(&key, parties->allocations, parties->allocation_count, sizeof(key),
		       by_device_and_container);
}

static void merge_allocations(struct device_parties *parties)
{
	struct device_allocation *all = parties->allocations;
	size_t kept = 0;

	qsort(all, parties->allocation_count, sizeof(*all), by_device_and_container);
	for (size_t i = 1; i < parties->allocation_count; i++) {
		if (by_device_and_container(&all[kept], &all[i]) == 0)
			all[kept].held += all[i].held;
		else
			all[++kept] = all[i];
	}
	parties->allocation_count = kept + 1;
}

/*
 * Each allocation has at least one entry, which is charged its part; without memory it is nameless.
 */
static void find_members(struct device_parties *parties)
{
	for (size_t i = 0; i < parties->count; i++) {
		struct device_allocation *its =
			parties->entries[i].held ? find_allocation(parties, &parties->entries[i])
						 : NULL;

		if (its)
			its->members++;
	}
	for (size_t i = 0; i < parties->allocation_count; i++) {
		struct device_allocation *its = &parties->allocations[i];

		if (its->members)
			continue;
		its->members = 1;
		if (device_parties_add(parties, its->device, LEDGER_NONE, its->container, 0,
				       DEVICE_WHOLE) < 0) {
			parties->allocated[its->device] -= its->held;
			device_parties_allocate_nameless(parties, its->device, its->held);
		}
	}
}

static void settle_allocations(struct device_parties *parties)
{
	if (!parties->allocation_count)
		return;
	merge_allocations(parties);
	for (size_t i = 0; i < parties->allocation_count; i++)
		parties->allocations[i].members = parties->allocations[i].served = 0;
	find_members(parties);
}

/* The remainder of the division goes to the first of them. */
static uint64_t next_part(struct device_allocation *its)
{
	return its->held / its->members + (its->served++ < its->held % its->members);
}

/* ---- all ---- */

static void drop_all(struct device_parties *parties)
{
	memset(parties->allocated, 0, sizeof(parties->allocated));
	memset(parties->holders, 0, sizeof(parties->holders));
	for (size_t i = 0; i < parties->count; i++)
		parties->dropped_ns[parties->entries[i].device] += parties->entries[i].busy_ns;
	parties->count = 0;
}

static void count_entries(struct device_parties *parties)
{
	uint32_t *first = parties->first;

	memset(first, 0, sizeof(parties->first));
	if (parties->count == 0)
		return;
	for (size_t i = 0; i < parties->count; i++)
		first[parties->entries[i].device + 1]++;
	for (size_t device = 0; device < DEVICES_MAX; device++)
		first[device + 1] += first[device];
}

static uint64_t idle_weight(struct device_parties *parties, const struct device_entry *entry,
			    enum idle_share share)
{
	struct device_allocation *its;

	if (share == IDLE_SHARE_HOLDER && parties->allocated[entry->device]) {
		its = entry->held ? find_allocation(parties, entry) : NULL;
		return its ? next_part(its) : 0;
	}
	if (share == IDLE_SHARE_HOLDER && parties->holders[entry->device])
		return entry->held;
	if (share == IDLE_SHARE_EQUAL)
		return entry->busy_ns > 0;
	return entry->busy_ns;
}

int device_parties_close(struct device_parties *parties, enum idle_share share)
{
	struct parties *sorted = &parties->sorted;
	uint32_t next[DEVICES_MAX];
	int r;

	parties->share = share;
	if (share == IDLE_SHARE_HOLDER)
		settle_allocations(parties);
	parties_begin(sorted, 0);
	r = parties_reserve(sorted, parties->count);
	if (r < 0)
		drop_all(parties);
	count_entries(parties);
	memcpy(next, parties->first, sizeof(next));
	for (size_t i = 0; i < parties->count; i++) {
		const struct device_entry *entry = &parties->entries[i];
		uint32_t at = next[entry->device]++;

		sorted->party[at] = entry->party;
		sorted->cpu_ns[at] = entry->busy_ns;
		sorted->idle_weight[at] = idle_weight(parties, entry, share);
	}
	sorted->count = parties->count;
	return r;
}

/* By holders only where some are known. */
static enum idle_share share_of(const struct device_parties *parties, uint32_t device)
{
	if (parties->share != IDLE_SHARE_HOLDER)
		return parties->share;
	if (parties->allocated[device])
		return IDLE_SHARE_ALLOCATION;
	return parties->holders[device] ? IDLE_SHARE_HOLDER : IDLE_SHARE_USAGE;
}

struct domain_work device_parties_work(const struct device_parties *parties, uint32_t device)
{
	uint32_t first = parties->first[device];
	struct domain_work work =
		parties_work(&parties->sorted, first, parties->first[device + 1] - first);

	work.input.rule = SHARE_DEVICE_TIME;
	work.input.dropped_weight = parties->dropped_ns[device];
	work.input.unseen_weight = parties->unseen_ns[device];
	work.input.idle_share = share_of(parties, device);
	work.input.idle_dropped_weight = parties->nameless[device];
	return work;
}

void device_parties_release(struct device_parties *parties)
{
	free(parties->entries);
	free(parties->allocations);
	parties_release(&parties->sorted);
	*parties = (struct device_parties){ 0 };
}
