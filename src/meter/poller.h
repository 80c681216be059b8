/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the zones of one slow source, once in a period on a thread of its own: one that takes
 * seconds to answer, or has new values only now and then. A pass takes the latest results, under a
 * lock that is never held while something is read, and waits for nothing.
 *
 * While the source has no zones its thread sleeps, and is woken for a search only.
 *
 * Results polled between two passes add up; where nothing new came, the zone's next span has the
 * energy. A poll that hangs costs the zones of its source alone. Used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/meter.h"
#include "meter/reader.h"

/* A poll that takes more periods than this is stalled. */
#define POLLER_PATIENCE_PERIODS 3

struct poller;

/*
 * Takes ownership of @meter, also on failure, and begins to search and to poll. @max_power_uw as in
 * reader_new(). 0 or -errno.
 */
int poller_new(const struct meter_ops *ops, struct meter *meter, uint64_t max_power_uw,
	       struct poller **ret);
/*
 * Waits at most @deadline_ns for the first search, and for the first poll of what it found, so that
 * the first collection has results. @has_value is set for zones with a good value. The number of
 * zones known then.
 */
size_t poller_search(struct poller *poller, uint64_t deadline_ns,
		     bool has_value[static METER_ZONES_MAX]);
/* As reader_free(). */
void poller_free(struct poller *poller, uint64_t deadline_ns);
/*
 * The results polled since the last call: fills results[0..number of zones known), which it
 * returns, and adds to @uses what used its devices. The use of a device comes with the reading that
 * it was found with. With @rescan the tree is searched again before the next poll.
 */
size_t poller_collect(struct poller *poller, bool rescan,
		      struct read_result results[static METER_ZONES_MAX], struct device_uses *uses);
/* A search for zones has come to its end, at least once. */
bool poller_has_searched(struct poller *poller);
/*
 * When the next poll begins after one that was due at @due_ns and ended at @end_ns: a period after
 * that one was due, but not before the source has rested for half a period. Polls that were missed
 * are not made up for. Pure.
 */
uint64_t poller_next_due_ns(uint64_t due_ns, uint64_t end_ns, uint64_t period_ns);
/*
 * The same for a source that waits for values by itself: at once after a poll that has waited for
 * one in vain, so that the next value is taken when it arrives; else after half a period. Pure.
 */
uint64_t poller_next_wait_ns(uint64_t begun_ns, uint64_t end_ns, uint64_t period_ns, bool has_new);
/* Borrowed, for calls that do no I/O. */
struct meter *poller_meter(struct poller *poller);
