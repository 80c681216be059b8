// SPDX-License-Identifier: Apache-2.0
#include "rates/rates.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "rates/rate_feed.h"
#include "rates/rate_schedule.h"

#define FILE_REFRESH_NS (60 * NSEC_PER_SEC)
#define RETRY_MIN_NS    (30 * NSEC_PER_SEC)
#define PATIENCE_NS     (1 * NSEC_PER_SEC) /* of the end */

static const char *const feed_names[RATE_COUNT] = {
	[RATE_PRICE] = "price", [RATE_CARBON] = "carbon"
};

/* The state of a feed, with its last value. */
struct feed_state {
	bool is_wanted;
	struct rate_feed_options options; /* owned; of the thread, which alone uses @feed */
	struct rate_feed feed;
	uint64_t due_ns, retry_ns;
	/* Under the lock: */
	double value; /* NAN: there is none yet */
	int64_t since_s;
	uint64_t reads, failures;
	bool has_failed; /* the last time */
	char error[160];
};

struct rates {
	pthread_mutex_t lock;
	/* The numbers of the configuration, under the lock. */
	struct rate_values fixed;
	struct rate_schedule schedule;
	bool has_kind;
	struct feed_state feeds[RATE_COUNT];
	void (*start_thread)(void);
	pthread_t thread;
	bool has_thread;
	int cancel_fd;
};

static double number_of(const char *text)
{
	double value;

	return *text && parse_double(text, &value) == 0 ? value : (double)NAN;
}

static bool is_feed(const struct rate_feed_options *feed)
{
	return *feed->file || *feed->url;
}

bool rates_use_network(const struct rates_options *options)
{
	return *options->price.feed.url || *options->carbon.feed.url;
}

bool rates_are_wanted(const struct rates_options *options)
{
	return *options->price.per_kwh || *options->price.schedule || *options->carbon.intensity ||
	       *options->carbon.embodied || *options->pue || is_feed(&options->price.feed) ||
	       is_feed(&options->carbon.feed);
}

void rates_reconfigure(struct rates *rates, const struct rates_options *options)
{
	struct rate_schedule schedule = { .count = 0 };
	struct rate_values fixed = {
		.price_per_kwh = number_of(options->price.per_kwh),
		.carbon_g_per_kwh = number_of(options->carbon.intensity),
		.carbon_source = "fixed",
		.pue = number_of(options->pue),
		.embodied_g_per_h = number_of(options->carbon.embodied),
	};

	/* Options have been checked: they fit. */
	(void)snprintf(fixed.currency, sizeof(fixed.currency), "%s", options->price.currency);
	(void)snprintf(fixed.carbon_kind, sizeof(fixed.carbon_kind), "%s",
		       *options->carbon.kind ? options->carbon.kind : "average");
	if (*options->price.schedule)
		(void)rate_schedule_parse(options->price.schedule, &schedule, NULL);
	pthread_mutex_lock(&rates->lock);
	rates->fixed = fixed;
	rates->schedule = schedule;
	rates->has_kind = *options->carbon.kind;
	pthread_mutex_unlock(&rates->lock);
}

static double scheduled_price(const struct rate_schedule *schedule, int64_t realtime_s)
{
	time_t time = (time_t)realtime_s;
	struct tm tm;

	if (!schedule->count || !localtime_r(&time, &tm))
		return (double)NAN;
	return rate_schedule_at(schedule, (unsigned)(tm.tm_wday + 6) % 7,
				(unsigned)(tm.tm_hour * 60 + tm.tm_min));
}

/* The value of a feed and its health; NAN if it is too old. */
static double value_of(const struct feed_state *state, enum rate rate, int64_t realtime_s,
		       struct rate_feed_health *health)
{
	double age_s =
		isnan(state->value) ? (double)NAN : fmax(0, (double)(realtime_s - state->since_s));
	bool is_fresh = age_s <= (double)state->options.max_age_ns / 1e9;

	*health = (struct rate_feed_health){ .up = is_fresh && !state->has_failed,
					     .age_s = age_s,
					     .reads = state->reads,
					     .failures = state->failures };
	(void)snprintf(health->feed, sizeof(health->feed), "%s", feed_names[rate]);
	(void)snprintf(health->error, sizeof(health->error), "%s", state->error);
	return is_fresh ? state->value : (double)NAN;
}

/* The labels that follow from the feed of carbon intensity. */
static void describe_carbon(const struct rates *rates, struct rate_values *now)
{
	const struct rate_provider *provider = rates->feeds[RATE_CARBON].feed.provider;

	(void)snprintf(now->carbon_source, sizeof(now->carbon_source), "%s",
		       provider ? provider->name : "file");
	if (!rates->has_kind && provider && *provider->kind)
		(void)snprintf(now->carbon_kind, sizeof(now->carbon_kind), "%s", provider->kind);
}

void rates_at(struct rates *rates, int64_t realtime_s, struct rates_health *ret)
{
	double scheduled;

	*ret = (struct rates_health){ .feed_count = 0 };
	pthread_mutex_lock(&rates->lock);
	ret->now = rates->fixed;
	scheduled = scheduled_price(&rates->schedule, realtime_s);
	if (!isnan(scheduled))
		ret->now.price_per_kwh = scheduled;
	for (enum rate rate = 0; rate < RATE_COUNT; rate++) {
		const struct feed_state *state = &rates->feeds[rate];
		double *value =
			rate == RATE_PRICE ? &ret->now.price_per_kwh : &ret->now.carbon_g_per_kwh;

		if (!state->is_wanted)
			continue;
		*value = value_of(state, rate, realtime_s, &ret->feeds[ret->feed_count++]);
		if (rate == RATE_CARBON)
			describe_carbon(rates, &ret->now);
	}
	pthread_mutex_unlock(&rates->lock);
}

/* ---- the thread ---- */

static bool is_possible(enum rate rate, double value)
{
	return rate == RATE_PRICE ? value >= RATE_PRICE_MIN && value <= RATE_PRICE_MAX
				  : value >= 0 && value <= RATE_INTENSITY_MAX;
}

static void take_reading(struct rates *rates, enum rate rate, const struct rate_reading *reading,
			 int64_t now_s, int result, const struct diag *diag)
{
	struct feed_state *state = &rates->feeds[rate];
	bool had_failed;

	pthread_mutex_lock(&rates->lock);
	had_failed = state->has_failed;
	state->has_failed = result < 0;
	state->reads++;
	if (result < 0) {
		state->failures++;
	} else {
		state->value = reading->value;
		state->since_s = reading->since_s == INT64_MIN ? now_s : reading->since_s;
	}
	(void)snprintf(state->error, sizeof(state->error), "%.*s", (int)sizeof(state->error) - 1,
		       result < 0 ? diag->text : "");
	pthread_mutex_unlock(&rates->lock);
	if (result < 0 && !had_failed)
		log_warn("the %s feed cannot be read; its last value counts until it is older than "
			 "%s.max-age: %s",
			 feed_names[rate], feed_names[rate], diag->text);
	else if (result == 0 && had_failed)
		log_info("the %s feed can be read again", feed_names[rate]);
}

static void read_feed(struct rates *rates, enum rate rate, uint64_t now_ns)
{
	struct feed_state *state = &rates->feeds[rate];
	uint64_t refresh_ns = state->feed.provider ? state->options.refresh_ns : FILE_REFRESH_NS;
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
	struct rate_reading reading;
	struct diag diag = { "" };
	int r = rate_feed_read(&state->feed, now_s, &reading, &diag);

	if (r == 0 && !is_possible(rate, reading.value))
		r = diag_set(&diag, -ERANGE,
			     "%g is no %s: is the unit right (a kilowatt-hour; grams)?",
			     reading.value, rate == RATE_PRICE ? "price" : "carbon intensity");
	if (r == -ECANCELED)
		return;
	take_reading(rates, rate, &reading, now_s, r, &diag);
	state->retry_ns = r == 0 ? RETRY_MIN_NS : state->retry_ns * 2;
	if (state->retry_ns > refresh_ns)
		state->retry_ns = refresh_ns;
	state->due_ns = now_ns + (r == 0 ? refresh_ns : state->retry_ns);
}

static void *run(void *userdata)
{
	struct rates *rates = userdata;
	struct pollfd cancel = { .fd = rates->cancel_fd, .events = POLLIN };

	if (rates->start_thread)
		rates->start_thread();
	for (;;) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = UINT64_MAX;

		for (enum rate rate = 0; rate < RATE_COUNT; rate++) {
			struct feed_state *state = &rates->feeds[rate];

			if (!state->is_wanted)
				continue;
			if (state->due_ns <= now_ns)
				read_feed(rates, rate, now_ns);
			if (state->due_ns < due_ns)
				due_ns = state->due_ns;
		}
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (poll(&cancel, 1,
			 due_ns > now_ns ? (int)((due_ns - now_ns) / NSEC_PER_MSEC) + 1 : 0) > 0)
			return NULL;
	}
}

/* ---- its life ---- */

static int copy_text(char **ret, const char *text)
{
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

static int open_feed(struct rates *rates, enum rate rate, const struct rate_feed_options *options,
		     struct diag *diag)
{
	struct feed_state *state = &rates->feeds[rate];
	struct rate_feed_options *own = &state->options;

	state->value = (double)NAN;
	if (!is_feed(options))
		return 0;
	state->is_wanted = true;
	state->retry_ns = RETRY_MIN_NS;
	own->refresh_ns = options->refresh_ns;
	own->max_age_ns = options->max_age_ns;
	if (copy_text(&own->file, options->file) < 0 || copy_text(&own->url, options->url) < 0 ||
	    copy_text(&own->path, options->path) < 0 ||
	    copy_text(&own->key_file, options->key_file) < 0 ||
	    copy_text(&own->ca_file, options->ca_file) < 0)
		return -ENOMEM;
	return rate_feed_open(own, rates->cancel_fd, &state->feed, diag);
}

static void free_rates(struct rates *rates)
{
	for (enum rate rate = 0; rate < RATE_COUNT; rate++) {
		struct rate_feed_options *own = &rates->feeds[rate].options;

		rate_feed_close(&rates->feeds[rate].feed);
		free(own->file);
		free(own->url);
		free(own->path);
		free(own->key_file);
		free(own->ca_file);
	}
	if (rates->cancel_fd >= 0)
		(void)close(rates->cancel_fd);
	(void)pthread_mutex_destroy(&rates->lock);
	free(rates);
}

int rates_start(const struct rates_options *options, void (*start_thread)(void), struct rates **ret,
		struct diag *diag)
{
	struct rates *rates = calloc(1, sizeof(*rates));
	int r;

	if (!rates)
		return -ENOMEM;
	(void)pthread_mutex_init(&rates->lock, NULL); /* cannot fail with default attributes */
	rates->start_thread = start_thread;
	rates_reconfigure(rates, options);
	tzset(); /* before files are confined */
	rates->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = rates->cancel_fd < 0 ? -errno : 0;
	if (r == 0)
		r = open_feed(rates, RATE_PRICE, &options->price.feed, diag);
	if (r == 0)
		r = open_feed(rates, RATE_CARBON, &options->carbon.feed, diag);
	if (r == 0 && (rates->feeds[RATE_PRICE].is_wanted || rates->feeds[RATE_CARBON].is_wanted)) {
		r = thread_start(&rates->thread, 0, run, rates);
		rates->has_thread = r == 0;
	}
	if (r < 0) {
		free_rates(rates);
		return r;
	}
	*ret = rates;
	return 0;
}

void rates_stop(struct rates *rates)
{
	if (!rates)
		return;
	if (rates->has_thread) {
		(void)eventfd_write(rates->cancel_fd, 1);
		if (thread_join_within(rates->thread, PATIENCE_NS) < 0)
			return; /* a file hangs */
	}
	free_rates(rates);
}
