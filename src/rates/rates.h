/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rates that turn energy into money and carbon dioxide, as they are at the moment: price and
 * carbon intensity of a kilowatt-hour, power usage effectiveness, embodied emissions of an hour.
 *
 * A rate is a number of the configuration, a schedule, or comes from a file or a URL, which one
 * thread reads. An unknown rate is NAN and has no series: a feed that fails keeps its last value
 * for --….max-age and is absent then. Rates are never multiplied into counters, because a price
 * changes and a counter may not; they are multiplied where something is shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "rates/rate_options.h"

#define RATE_SOURCE_MAX 24

/* Quantities that a feed can have. */
enum rate { RATE_PRICE, RATE_CARBON, RATE_COUNT };

struct rate_values {
	double price_per_kwh;
	char currency[RATE_CURRENCY_LEN + 1];
	double carbon_g_per_kwh;
	char carbon_source[RATE_SOURCE_MAX]; /* "fixed", "file", or the provider's name */
	char carbon_kind[RATE_KIND_MAX];
	double pue;              /* at least 1 */
	double embodied_g_per_h; /* of the machine */
};

struct rate_feed_health {
	char feed[8]; /* "price", "carbon" */
	bool up;      /* its last reading succeeded, and the value is not too old */
	double age_s; /* of the value; NAN before the first one */
	uint64_t reads, failures;
	char error[160]; /* of the last reading; "" it succeeded */
};

struct rates_health {
	struct rate_values now;
	uint32_t feed_count;
	struct rate_feed_health feeds[RATE_COUNT];
};
extern const struct health_part rates_health_part; /* of a struct rates *, which may be NULL */

struct rates;

/* Does it ask for any rate? */
bool rates_are_wanted(const struct rates_options *options);
/* Does it ask for a feed over the network? */
bool rates_use_network(const struct rates_options *options);
/*
 * Copies @options, and starts the thread if a feed is wanted; before that thread does anything, it
 * calls @start_thread (NULL: nothing). 0, -ENOMEM, or -errno with a diagnosis. A feed that cannot
 * be read is state, not an error.
 */
int rates_start(const struct rates_options *options, void (*start_thread)(void), struct rates **ret,
		struct diag *diag);
/* The numbers and the schedule of @options count from now on; its feeds do not change. */
void rates_reconfigure(struct rates *rates, const struct rates_options *options);
/* At @realtime_s (UTC). From any thread. */
void rates_at(struct rates *rates, int64_t realtime_s, struct rates_health *ret);
/* Ends the thread, within a second unless a file hangs. NULL is fine. */
void rates_stop(struct rates *rates);

/* The rates in the blocks of a snapshot's health; NULL: there are none. */
const struct rate_values *rates_in(const struct health_block *blocks, uint32_t count);
