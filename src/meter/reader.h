/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all zones of one meter on a thread of its own, so that a read that hangs in the kernel
 * costs only its own zone.
 *
 * A pass hands the work to the reader thread and waits for it, with a deadline. When the thread
 * takes long and other zones wait, it is left alone with that one read and a spare thread takes the
 * rest; a result that it brings before the pass is over counts. A zone has at most one read under
 * way, so there are at most as many threads as stuck zones, one more, and two spare ones. Threads
 * are made by these threads (except for the first), never by the caller of a pass, because making
 * one can block.
 *
 * Between passes the thread reads a zone by itself where its counter could otherwise wrap unseen:
 * once in range / (2 × greatest power). More frequent passes cost no additional wake-ups. Used by
 * one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/counter_wrap.h"
#include "meter/meter.h"

struct reader;

enum read_outcome {
	READ_DONE,    /* error and counter are of this pass */
	READ_STALLED, /* still under way from this pass or an earlier one */
	READ_MISSED,  /* never started: the deadline passed first */
	READ_NOTHING, /* there is nothing new */
};

/* The result of a pass for one zone; a poller's (poller.h) has the same form. */
struct read_result {
	enum read_outcome outcome;
	int error;               /* 0 or -errno */
	uint64_t reads;          /* attempts so far, those between passes included */
	uint64_t refusals;       /* in a row; 0 after a reading that counts */
	uint64_t wraps, dropped; /* so far */
	/* With READ_DONE and no error: since the last such result. */
	struct energy_span span; /* without its zone */
	bool refused;            /* it is not known, because a reading was refused */
	bool has_value;          /* a reading was good, at least once */
	enum zone_caveat caveat; /* of the last good reading */
};

/*
 * Takes ownership of @meter, also on failure. @max_power_uw is the greatest power of a zone; 0: by
 * its kind (zone_kind_info). 0 or -ENOMEM.
 */
int reader_new(const struct meter_ops *ops, struct meter *meter, uint64_t max_power_uw,
	       struct reader **ret);
/*
 * Waits at most @deadline_ns for the thread to end; a worker that is stuck frees the rest when it
 * returns.
 */
void reader_free(struct reader *reader, uint64_t deadline_ns);

/*
 * Looks for zones, and tries to read each of them: @has_value is set for those with a good value.
 * These readings are no baseline: that is the first one of a pass, which is taken with the
 * processes'. Takes at most @deadline_ns; the number of zones known then.
 */
size_t reader_search(struct reader *reader, uint64_t deadline_ns,
		     bool has_value[static METER_ZONES_MAX]);
/*
 * One pass over the zones, after a rescan if @rescan. Returns the number of zones known now, and
 * fills results[0..that). Takes at most @deadline_ns.
 */
size_t reader_pass(struct reader *reader, bool rescan, uint64_t deadline_ns,
		   struct read_result results[static METER_ZONES_MAX]);
/*
 * The next passes will be at @at_ns (MONOTONIC) and every @period_ns from then on, without a
 * rescan: the thread begins each by itself, so that the caller sleeps once for it instead of twice.
 * The descriptor, which is the reader's, is readable from the end of such a pass to the call of
 * reader_pass(), which takes the readings if it comes at most @fresh_ns after they began, and else
 * reads all again. To be called after each pass: if nothing has changed it wakes no thread. -1: the
 * thread will not begin, because a read is stuck, there is no thread, or @period_ns is 0.
 */
int reader_expect(struct reader *reader, uint64_t at_ns, uint64_t period_ns, uint64_t fresh_ns,
		  uint64_t deadline_ns);
/* A search for zones has come to its end, at least once. */
bool reader_has_searched(struct reader *reader);
/* Borrowed, for calls that do no I/O. */
struct meter *reader_meter(struct reader *reader);
