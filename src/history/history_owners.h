/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owners that have a history of their own, HISTORY_OWNERS_MAX at most.
 *
 * An owner is found by the number of its row's labels, which is never used again; after a row was
 * released and began again, by its text. Which owner gives way is decided by power: the mean since
 * it came into the table, of an hour at most. So an owner that used much and has ended stays for
 * the hour, and one that is only briefly large does not displace it.
 */
#pragma once

#include <stdint.h>

#include "energy/owner_names.h"
#include "history/history_ring.h"
#include "snapshot/owner_text.h"
#include "snapshot/snapshot.h"

#define HISTORY_OWNERS_MAX 40

struct history_owner {
	char name[OWNER_TEXT_SIZE];
	char namespace[OWNER_NAME_MAX + 1], pod[OWNER_NAME_MAX + 1]; /* "": none */
	uint64_t since_ns;
	struct history_energy *energy;
};

/* All 0 at first. */
struct history_owners {
	struct history_owner list[HISTORY_OWNERS_MAX];
	uint32_t count;
	struct history_slot *slots;
	uint32_t slot_room;
};

struct history_newcomer {
	const struct series_labels *labels;
	uint64_t power_uw; /* that it draws now */
	uint64_t since_ns; /* when its history begins */
};

void history_owners_release(struct history_owners *owners);
void history_owners_advance(struct history_owners *owners, const struct history_advance *advance);
/* The owner of a row; NULL: the table does not have it. */
struct history_owner *history_owners_find(struct history_owners *owners,
					  const struct series_labels *labels);
/*
 * Gives an owner a place: a free one, or the place of the owner with the least power if this is
 * less than half of the newcomer's. The past of an owner that gives way is added to @other. Without
 * a place, or memory, nothing happens.
 */
void history_owners_add(struct history_owners *owners, const struct history_newcomer *newcomer,
			uint64_t now_ns, struct history_energy *other);
