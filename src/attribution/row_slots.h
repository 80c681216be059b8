/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the rows of a table are: slots 0..count-1, with holes that are used again, the newest
 * first; and which of them were touched in this interval.
 *
 * The table owns the rows themselves and its values; row_slots_reserve() and row_slots_find() see
 * to it that there is room for one more of everything before anything is taken, so that taking and
 * touching cannot fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/value_table.h"

#define SLOT_NONE UINT32_MAX

struct row_slots {
	uint32_t *touched;   /* [capacity], by order of touch */
	uint32_t *next_free; /* [capacity]; of a hole: the one that was there before */
	uint32_t capacity;
	uint32_t count; /* in use or once used */
	uint32_t used;
	uint32_t first_free;
	uint32_t touched_count;
};

void row_slots_init(struct row_slots *slots);
void row_slots_release(struct row_slots *slots);
/*
 * @rows, of @row_size bytes each, with room for one more: as they are, or moved to where there is.
 * NULL without memory (nothing changed).
 */
void *row_slots_reserve(struct row_slots *slots, void *rows, size_t row_size);
/*
 * The slot of the next row, not yet taken, with room in @values [count]; SLOT_NONE without memory.
 */
uint32_t row_slots_find(const struct row_slots *slots, struct value_table *const *values,
			size_t count);
/* True when the slot was never used before: its row is not initialised. */
bool row_slots_take(struct row_slots *slots, uint32_t slot);
void row_slots_give_back(struct row_slots *slots, uint32_t slot);
/* Puts a slot, which is not there, on the list of touched ones. Returns its place. */
static inline uint32_t row_slots_touch(struct row_slots *slots, uint32_t slot)
{
	slots->touched[slots->touched_count] = slot;
	return slots->touched_count++;
}
