/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of energy that are read as fast as asked, with a deadline (truth/timed_call.h): the
 * process reads all of them in turns, and returns its readings of COUNTER_BATCH_NS at once, so that
 * the deadline costs the reading of a counter nothing. Files stay open, because opening one takes
 * longer than reading it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "truth/truth_meters.h"

#define COUNTER_BATCH_NS    20000000ULL /* 20 ms */
#define COUNTER_SAMPLES_MAX 2048        /* of a batch */
#define COUNTERS_MAX        32

struct counter_sample {
	uint64_t before_ns; /* CLOCK_MONOTONIC, when the reading began */
	uint64_t raw;
	uint32_t took_ns;
	bool has_failed; /* the reading gave no number */
};

struct counter_reader;

/*
 * For @count counters, at most COUNTERS_MAX, which are read every @interval_ns. A reading that is
 * late is not made up for: the next one is an interval later. 0; or -errno with a diagnosis, also
 * where a counter cannot be opened.
 */
int counter_reader_new(const struct truth_meter *const *meters, size_t count, uint64_t interval_ns,
		       struct counter_reader **ret, struct diag *diag);
/*
 * The readings of a batch, counter by counter in the order of @meters, and again: their number, a
 * multiple of the count of counters. Or as timed_call_make() fails; after -ETIMEDOUT,
 * counter_reader_place() is the counter that does not answer.
 */
ssize_t counter_reader_read(struct counter_reader *reader, struct counter_sample *ret);
const char *counter_reader_place(const struct counter_reader *reader);
/* Takes NULL. */
void counter_reader_free(struct counter_reader *reader);
