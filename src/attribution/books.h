/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books of one machine: all that is kept from one interval to the next while its energy is
 * booked over what ran. The exporter's engine, a replay and the simulation differ in where
 * readings and work come from; the books, and the order in which they are kept, are the same.
 *
 *	books_adopt() each zone that is new, then books_choose_totals()
 *	books_begin()
 *	    rows may be made from here on
 *	books_put_span() each span of zones that have one, and their status
 *	parties_begin() …, device_parties_begin() …: what ran, and what used devices
 *	books_book() with what books_interval() returned
 *	ledger_close(), or what publishes does it
 *
 * Pure: no I/O, no clock. One thread.
 */
#pragma once

#include <stdint.h>

#include "attribution/accountant.h"
#include "attribution/computed.h"
#include "attribution/counters.h"
#include "energy/remainder.h"
#include "energy/zone_progress.h"

/* The energy that no part of the machine counts, by meters or by estimates (energy/remainder.h). */
struct books_remainder {
	struct remainder remainder;
	struct zone zone; /* once it was found */
	size_t at;        /* the zone's index; SIZE_MAX: none that these books have found */
};

struct books {
	struct ledger *ledger;
	struct accountant accountant;
	struct parties parties;                  /* what ran in the interval */
	struct device_parties devices;           /* what used devices in it */
	const struct idle_options *idle;         /* of the last books_configure() */
	const struct computed_options *computed; /* of the last books_compute(), or NULL */
	bool has_begun;                          /* an interval */
	size_t chosen;                           /* zones whose totals have been decided on */
	struct books_remainder rest[QUALITY_COUNT];
	struct zone_status status[ZONES_MAX];
	struct energy_span spans[ZONES_MAX]; /* of the interval, in the order of zones */
	size_t span_count;
};

/*
 * 0, or -ENOMEM; @books is to be released in any case. It is zeroed, as calloc() gives it: most of
 * its room is for zones that few machines have, and stays untouched.
 */
int books_open(struct books *books, const struct ledger_options *options);
void books_release(struct books *books);
/*
 * At the start and after a reload. @idle is borrowed until the next call. @settle_ns: as in
 * accountant_configure().
 */
void books_configure(struct books *books, const struct idle_options *idle,
		     const struct share_options *share, uint64_t settle_ns);
/* Which quantities are computed from energy. @options is borrowed, also; NULL: none. */
void books_compute(struct books *books, const struct computed_options *options);

/*
 * @zone lives as long as the books; it was found at @found_ms of CLOCK_BOOTTIME. Its index, which
 * it keeps, or -ENOMEM: it waits. There must be room for it: ZONES_MAX.
 */
int books_adopt(struct books *books, const struct zone *zone, int64_t found_ms);
/*
 * After all zones that were found at once: adopts the remainders, each once all zones that it is
 * made of are there. 0 or -ENOMEM.
 */
int books_find_remainders(struct books *books, int64_t found_ms);
/*
 * Each interval, after adopting zones: which totals the new ones are in, and columns for idle
 * energy, if a reload asks for them. 0 or -ENOMEM.
 */
int books_choose_totals(struct books *books);

/* Replaces the idle power that was learned here for @zone with @learner. */
void books_restore(struct books *books, size_t zone, const struct idle_learner *learner);
/* The progress of a zone between two intervals, with which other books continue it. */
struct zone_progress books_save(const struct books *books, size_t zone);
void books_load(struct books *books, size_t zone, const struct zone_progress *progress);

/*
 * Begins an interval, which ends at @now_ns of CLOCK_MONOTONIC: which zones count in it, and which
 * are parts of the machine. A new series shows 0 for @settle_ns from now on.
 */
void books_begin(struct books *books, uint64_t now_ns, uint64_t settle_ns);
/* @span of zone @zone, which has none in this interval yet. */
void books_put_span(struct books *books, size_t zone, struct energy_span span);
/* Status and span of the zones of books_find_remainders(), after all other spans. */
void books_advance_remainders(struct books *books);
/*
 * True if another source has taken over from zone @zone for good, or from a zone that a remainder
 * needs (remainder_has_ended()).
 */
bool books_has_ended(const struct books *books, size_t zone);
/* All that the books have of the interval; the caller adds work, places and what was measured. */
struct interval books_interval(struct books *books, uint64_t time_ns);
/*
 * Books it. @counted [SIGNAL_COUNT]: all that was counted of each signal, for counters of rows;
 * NULL: none are kept. Run time at sockets that are not known is spread only here, so that a
 * recording of the interval has what was known: a replay that knew more would spread work without
 * a name by other sums, a nanosecond off.
 */
void books_book(struct books *books, const struct interval *interval, const uint64_t *counted);
