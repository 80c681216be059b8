/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all zones of one meter on a thread of its own, so that a read that hangs in the kernel
 * costs its zone and no one else.
 *
 * A pass hands the work to the reader thread and waits for it, with a deadline. When the thread is
 * stuck, it is left alone with that one read and another takes the rest. A zone has at most one
 * read under way, so there are at most as many threads as stuck zones and one more. Used by one
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/meter.h"

struct reader;

enum read_outcome {
	READ_DONE,    /* error and raw are of this pass */
	READ_STALLED, /* still under way from this pass or an earlier one */
	READ_MISSED,  /* never started: the deadline passed first */
};

struct read_result {
	enum read_outcome outcome;
	int error;        /* 0 or -errno */
	uint64_t time_ns; /* CLOCK_MONOTONIC when the read returned */
	struct raw_reading raw;
};

/* Takes ownership of @meter, also on failure. 0 or -ENOMEM. */
int reader_new(const struct meter_ops *ops, struct meter *meter, struct reader **ret);
/*
 * Waits at most @deadline_ns for the thread to end; what is stuck frees the rest when it returns.
 */
void reader_free(struct reader *reader, uint64_t deadline_ns);

/*
 * One pass over the zones, after a rescan if @rescan. Returns the number of zones known now, and
 * fills results[0..that). Takes at most @deadline_ns.
 */
size_t reader_pass(struct reader *reader, bool rescan, uint64_t deadline_ns,
		   struct read_result results[static ZONE_MAX]);
/* A search for zones has come to its end, at least once. */
bool reader_has_searched(struct reader *reader);
/* Borrowed, for calls that do no I/O. */
struct meter *reader_meter(struct reader *reader);
