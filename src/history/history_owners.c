// SPDX-License-Identifier: Apache-2.0
#include "history/history_owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define NO_OWNER UINT16_MAX
#define HOUR_NS  (HISTORY_FINE_S * HISTORY_FINE_STEPS * NSEC_PER_SEC)

/* The owner of a row, by the slot of its labels. */
struct history_slot {
	uint64_t serial;
	uint16_t owner;
};

void history_owners_release(struct history_owners *owners)
{
	for (uint32_t i = 0; i < owners->count; i++)
		history_memory_free(owners->list[i].energy, sizeof(struct history_energy));
	free(owners->slots);
}

void history_owners_advance(struct history_owners *owners, const struct history_advance *advance)
{
	for (uint32_t i = 0; i < owners->count; i++)
		history_energy_advance(owners->list[i].energy, advance);
}

static struct history_owner *find_by_name(struct history_owners *owners, const char *name)
{
	for (uint32_t i = 0; i < owners->count; i++) {
		if (strcmp(owners->list[i].name, name) == 0)
			return &owners->list[i];
	}
	return NULL;
}

/* Room for the labels of a row. 0 or -ENOMEM. */
static int reserve_slot(struct history_owners *owners, uint32_t slot)
{
	uint32_t before = owners->slot_room;

	if (ARRAY_RESERVE(owners->slots, owners->slot_room, slot + 1) < 0)
		return -ENOMEM;
	for (uint32_t i = before; i < owners->slot_room; i++)
		owners->slots[i] = (struct history_slot){ 0, NO_OWNER };
	return 0;
}

struct history_owner *history_owners_find(struct history_owners *owners,
					  const struct series_labels *labels)
{
	struct history_slot *slot;
	struct history_owner *owner;
	char name[OWNER_TEXT_SIZE];

	if (reserve_slot(owners, labels->slot) < 0)
		return NULL;
	slot = &owners->slots[labels->slot];
	if (slot->serial != labels->serial) {
		owner_text(labels->names, true, name);
		owner = find_by_name(owners, name);
		slot->serial = labels->serial;
		slot->owner = owner ? (uint16_t)(owner - owners->list) : NO_OWNER;
	}
	return slot->owner == NO_OWNER ? NULL : &owners->list[slot->owner];
}

/* µW: the mean since it came, of an hour at most. */
static uint64_t weight_of(const struct history_owner *owner, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - owner->since_ns;

	if (age_ns > HOUR_NS)
		age_ns = HOUR_NS;
	return age_ns ? muldiv_u64(owner->energy->hour_uj, NSEC_PER_SEC, age_ns) : UINT64_MAX;
}

/* The owner that gives way to one of @power_uw; NULL: none, since it must have half of that. */
static struct history_owner *find_least(struct history_owners *owners, uint64_t power_uw,
					uint64_t now_ns)
{
	struct history_owner *least = NULL;
	uint64_t least_uw = power_uw / 2;

	for (uint32_t i = 0; i < owners->count; i++) {
		uint64_t weight = weight_of(&owners->list[i], now_ns);

		if (weight < least_uw) {
			least_uw = weight;
			least = &owners->list[i];
		}
	}
	return least;
}

/* Its past goes to @other, and a place without a past is left. 0 or -ENOMEM. */
static int displace(struct history_owners *owners, struct history_owner *owner,
		    struct history_energy *other)
{
	struct history_energy *fresh = history_memory_new(sizeof(*fresh));

	if (!fresh)
		return -ENOMEM;
	history_energy_merge(other, owner->energy);
	history_memory_free(owner->energy, sizeof(*owner->energy));
	owner->energy = fresh;
	for (uint32_t s = 0; s < owners->slot_room; s++) {
		if (owners->slots[s].owner == owner - owners->list)
			owners->slots[s].owner = NO_OWNER;
	}
	return 0;
}

/* NULL: there is none. */
static struct history_owner *find_place(struct history_owners *owners, uint64_t power_uw,
					uint64_t now_ns, struct history_energy *other)
{
	struct history_owner *owner;

	if (owners->count < HISTORY_OWNERS_MAX) {
		owner = &owners->list[owners->count];
		owner->energy = history_memory_new(sizeof(*owner->energy));
		if (!owner->energy)
			return NULL;
		owners->count++;
		return owner;
	}
	owner = find_least(owners, power_uw, now_ns);
	return owner && displace(owners, owner, other) == 0 ? owner : NULL;
}

static void copy_name(char ret[OWNER_NAME_MAX + 1], const char *text)
{
	(void)memccpy(ret, text, '\0', OWNER_NAME_MAX);
}

void history_owners_add(struct history_owners *owners, const struct history_newcomer *newcomer,
			uint64_t now_ns, struct history_energy *other)
{
	const struct series_labels *labels = newcomer->labels;
	struct history_owner *owner;
	struct history_energy *energy;
	char name[OWNER_TEXT_SIZE];

	if (reserve_slot(owners, labels->slot) < 0)
		return;
	owner_text(labels->names, true, name);
	owner = find_by_name(owners, name);
	if (!owner) {
		owner = find_place(owners, newcomer->power_uw, now_ns, other);
		if (!owner)
			return;
		energy = owner->energy;
		*owner = (struct history_owner){ .since_ns = newcomer->since_ns, .energy = energy };
		memcpy(owner->name, name, sizeof(name));
		copy_name(owner->namespace, labels->names->text[LABEL_NAMESPACE]);
		copy_name(owner->pod, labels->names->text[LABEL_POD_NAME]);
	}
	owners->slots[labels->slot] =
		(struct history_slot){ labels->serial, (uint16_t)(owner - owners->list) };
}
