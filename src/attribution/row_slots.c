// SPDX-License-Identifier: Apache-2.0
/*
 * Slots grow by half. Memory that one of the arrays got before another found none is kept for the
 * next try: capacity is what all of them have.
 */
#include "attribution/row_slots.h"

#include "base/array.h"
#include "base/macro.h"

#define MIN_SLOTS 16U

void row_slots_init(struct row_slots *slots)
{
	*slots = (struct row_slots){ .first_free = SLOT_NONE };
}

void row_slots_release(struct row_slots *slots)
{
	free(slots->touched);
	free(slots->next_free);
	row_slots_init(slots);
}

void *row_slots_reserve(struct row_slots *slots, void *rows, size_t row_size)
{
	uint32_t capacity = slots->capacity + slots->capacity / 2;
	void *grown;

	if (slots->first_free != SLOT_NONE || slots->count < slots->capacity)
		return rows;
	capacity = capacity < MIN_SLOTS ? MIN_SLOTS : capacity;
	if (capacity <= slots->capacity || ARRAY_RESIZE(slots->touched, capacity) < 0 ||
	    ARRAY_RESIZE(slots->next_free, capacity) < 0)
		return NULL;
	grown = reallocarray(rows, capacity, row_size);
	if (grown)
		slots->capacity = capacity;
	return grown;
}

uint32_t row_slots_find(const struct row_slots *slots, struct value_table *const *values,
			size_t count)
{
	if (slots->first_free != SLOT_NONE)
		return slots->first_free;
	for (size_t i = 0; i < count; i++) {
		if (value_table_reserve(values[i], slots->count + 1) < 0)
			return SLOT_NONE;
	}
	return slots->count;
}

bool row_slots_take(struct row_slots *slots, uint32_t slot)
{
	slots->used++;
	if (slot == slots->count) {
		slots->count++;
		return true;
	}
	slots->first_free = slots->next_free[slot];
	return false;
}

void row_slots_give_back(struct row_slots *slots, uint32_t slot)
{
	slots->next_free[slot] = slots->first_free;
	slots->first_free = slot;
	slots->used--;
}
