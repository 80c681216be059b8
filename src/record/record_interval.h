/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an interval's record as a value (docs/record-format.md). */
#pragma once

#include "record/record_cursor.h"
#include "record/recording.h"

struct record_column {
	uint64_t *amounts;
	size_t size;
};

/* The memory of one interval's lists, which the next interval reuses; begins as zeros. */
struct interval_lists {
	struct recorded_reading *readings;
	size_t reading_size;
	uint32_t *parties;
	size_t party_size;
	struct record_column cpu, socket[RECORD_PLACES_MAX], signal[SIGNAL_COUNT];
	struct recorded_use *uses;
	size_t use_size;
	struct recorded_nameless *nameless;
	size_t nameless_size;
	struct recorded_allocation *allocations;
	size_t allocation_size;
	uint32_t *ended;
	size_t ended_size;
};

void interval_lists_release(struct interval_lists *lists);
/* @ret refers to @lists until the next call. A fault stays in @from. */
void record_interval_decode(struct interval_lists *lists, struct record_cursor *from,
			    struct recorded_interval *ret);
