/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how long is a series shown as 0, and for how long is it kept once nothing adds to it? One
 * rule for the series of all levels; pure.
 *
 *     born ── hidden (0) ──▶ settled, shown ──▶ ended, shown ──▶ may go early ──▶ may go
 *             settle_ns                         settle_ns        keep_ns
 *
 * What is born before the first snapshot has settled. The other spans begin when a snapshot with
 * the series could first be seen, so that each is one in which a scrape finds it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "snapshot/publisher_options.h"

/* An interval that is being published. */
struct moment {
	uint64_t now_ns;
	int64_t realtime_ms, boottime_ms;
	int64_t birth_offset_ms; /* birth_clock_follow() */
	bool first;              /* nothing was published before */
	/*
	 * From when on to when no snapshot could be made last: to now_ns while that lasts. What
	 * happened in between could first be seen at the end. Both 0: never.
	 */
	uint64_t hidden_ns, visible_ns;
};

struct series_age {
	int64_t born_ms;   /* CLOCK_BOOTTIME */
	uint64_t since_ns; /* when it was born or, once settled, when it settled */
	bool settled;
};

enum retention {
	RETENTION_HIDDEN, /* shown as 0 */
	RETENTION_SHOWN,  /* its last value has not been shown for settle_ns yet */
	RETENTION_EARLY,  /* may go if rows are scarce */
	RETENTION_OVER,   /* may go */
};

/* Born now. */
struct series_age series_age_born(const struct moment *at);
/* Settles the series if it is old enough. Returns whether it has settled. */
bool series_age_settle(struct series_age *age, const struct publisher_options *options,
		       const struct moment *at);
/*
 * The state of a series to which nothing was added since @last_ns. The time for which it was shown
 * counts from then or, if that is later, from when it settled.
 */
enum retention retention_of(const struct series_age *age, uint64_t last_ns,
			    const struct publisher_options *options, const struct moment *at);
