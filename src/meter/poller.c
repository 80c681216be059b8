// SPDX-License-Identifier: Apache-2.0
/*
 * One thread, one lock. The thread searches, polls and closes; it calls the source without the lock
 * and takes the lock to store the results. The poller and its lock live until both the owner and
 * the thread have let go of them, so one that hangs in a call is left to end alone.
 */
#include "meter/poller.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/num.h"
#include "meter/zone_samples.h"

struct polled_zone {
	bool is_new;    /* error, or a reading, since the last collection */
	bool has_value; /* a reading was good, at least once */
	int error;
	enum zone_caveat caveat; /* of the last good reading */
	struct zone_samples samples;
};

struct poller {
	const struct meter_ops *ops;
	struct meter *meter;
	uint64_t period_ns;
	uint64_t max_power_uw;  /* 0: by kind */
	pthread_mutex_t lock;   /* all below */
	pthread_cond_t wake;    /* for the thread: closing, or a search is asked for */
	pthread_cond_t changed; /* for the owner: the first poll, or the thread, is at its end */
	unsigned refs;          /* owner and thread */
	bool running;
	bool closing;
	bool searched;
	bool polled; /* all zones, once */
	bool search_again;
	uint64_t begun_ns; /* of the call into the source that is under way; 0: none */
	size_t zone_count;
	struct polled_zone *zones; /* [zones_size]; moves in a search only, when none is polled */
	size_t zones_size;
	struct device_uses uses; /* since the last collection */
};

/* Called with the lock held, which it releases. */
static void unref_unlock(struct poller *poller)
{
	bool last = --poller->refs == 0;

	pthread_mutex_unlock(&poller->lock);
	if (!last)
		return;
	(void)pthread_cond_destroy(&poller->wake);
	(void)pthread_cond_destroy(&poller->changed);
	(void)pthread_mutex_destroy(&poller->lock);
	free(poller->zones);
	device_uses_release(&poller->uses);
	free(poller);
}

/* Without memory for them the zones are adopted in a later search. */
static void adopt_zones(struct poller *poller)
{
	size_t count = poller->ops->zone_count(poller->meter);

	if (count > METER_ZONES_MAX)
		count = METER_ZONES_MAX;
	if (count > poller->zone_count &&
	    ARRAY_RESERVE(poller->zones, poller->zones_size, count) < 0)
		return;
	for (; poller->zone_count < count; poller->zone_count++) {
		const struct zone *zone = poller->ops->zone_at(poller->meter, poller->zone_count);

		poller->zones[poller->zone_count] = (struct polled_zone){
			.samples.max_power_uw = poller->max_power_uw
							? poller->max_power_uw
							: zone_kind_info[zone->kind].max_power_uw,
			.samples.bridge_ns = POWER_BRIDGE_PERIODS * poller->period_ns,
		};
	}
}

/* Called and returns with the lock held, which it drops for the call into the source. */
static void search(struct poller *poller)
{
	bool again;

	poller->search_again = false;
	poller->begun_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&poller->lock);
	again = poller->ops->rescan(poller->meter) == -EAGAIN;
	pthread_mutex_lock(&poller->lock);
	poller->search_again |= again;
	poller->begun_ns = 0;
	poller->searched = true;
	adopt_zones(poller);
}

/* Called in the same way. True: the zone has something new. */
static bool poll_zone(struct poller *poller, size_t index)
{
	struct polled_zone *zone = &poller->zones[index];
	struct raw_reading raw = { 0 };
	struct reading_time when = { .begun_ns = clock_ns(CLOCK_MONOTONIC) };
	const struct device_use *uses = NULL;
	size_t use_count = 0;
	int r;

	poller->begun_ns = when.begun_ns;
	pthread_mutex_unlock(&poller->lock);
	r = poller->ops->read_raw(poller->meter, index, &raw);
	when.time_ns = clock_ns(CLOCK_MONOTONIC);
	when.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	if (poller->ops->uses)
		uses = poller->ops->uses(poller->meter, index, &use_count);
	pthread_mutex_lock(&poller->lock);
	poller->begun_ns = 0;
	device_uses_add(&poller->uses, uses, use_count);
	r = zone_samples_take(&zone->samples, r, &raw, &when);
	if (r == -EAGAIN)
		return false;
	zone->error = r;
	zone->is_new = true;
	if (r == 0)
		zone->caveat = raw.caveat;
	zone->has_value |= r == 0 && !zone->samples.refused;
	return true;
}

uint64_t poller_next_due_ns(uint64_t due_ns, uint64_t end_ns, uint64_t period_ns)
{
	uint64_t next_ns = due_ns + period_ns, rested_ns = end_ns + period_ns / 2;

	return next_ns > rested_ns ? next_ns : rested_ns;
}

uint64_t poller_next_wait_ns(uint64_t begun_ns, uint64_t end_ns, uint64_t period_ns, bool has_new)
{
	uint64_t half_ns = period_ns / 2;

	return !has_new && end_ns - begun_ns >= half_ns ? end_ns : end_ns + half_ns;
}

/* There is nothing to poll: the thread sleeps until it is to search again. */
static bool is_idle(const struct poller *poller)
{
	return poller->zone_count == 0 && !poller->search_again;
}

/* Called and returns with the lock held; returns when the next turn is due. */
static uint64_t take_turn(struct poller *poller, uint64_t due_ns)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), end_ns;
	bool has_new = false;

	if (poller->search_again)
		search(poller);
	for (size_t i = 0; i < poller->zone_count && !poller->closing; i++)
		has_new |= poll_zone(poller, i);
	poller->polled = true;
	pthread_cond_signal(&poller->changed);
	end_ns = clock_ns(CLOCK_MONOTONIC);
	return poller->ops->waits
		       ? poller_next_wait_ns(begun_ns, end_ns, poller->period_ns, has_new)
		       : poller_next_due_ns(due_ns, end_ns, poller->period_ns);
}

static void *poller_main(void *arg)
{
	struct poller *poller = arg;
	uint64_t due_ns = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&poller->lock);
	while (!poller->closing) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		const struct timespec due = { (time_t)(due_ns / NSEC_PER_SEC),
					      (long)(due_ns % NSEC_PER_SEC) };

		if (is_idle(poller)) {
			(void)pthread_cond_wait(&poller->wake, &poller->lock);
			continue;
		}
		if (now_ns < due_ns) {
			(void)pthread_cond_timedwait(&poller->wake, &poller->lock, &due);
			continue;
		}
		due_ns = take_turn(poller, due_ns);
	}
	pthread_mutex_unlock(&poller->lock);
	poller->ops->close(poller->meter);
	pthread_mutex_lock(&poller->lock);
	poller->running = false;
	pthread_cond_signal(&poller->changed);
	unref_unlock(poller);
	return NULL;
}

static int start(struct poller *poller)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	poller->refs = 2;
	poller->running = true;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, poller_main, poller);
	(void)pthread_attr_destroy(&attr);
	if (r == 0)
		return 0;
	poller->refs = 1;
	poller->running = false;
	return -r;
}

int poller_new(const struct meter_ops *ops, struct meter *meter, uint64_t max_power_uw,
	       struct poller **ret)
{
	struct poller *poller = calloc(1, sizeof(*poller));
	pthread_condattr_t attr;
	int r;

	if (!poller) {
		ops->close(meter);
		return -ENOMEM;
	}
	poller->ops = ops;
	poller->meter = meter;
	poller->period_ns = ops->own_period_ns ? ops->own_period_ns(meter) : ops->period_ns;
	poller->max_power_uw = max_power_uw;
	poller->search_again = true;
	(void)pthread_mutex_init(&poller->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&poller->wake, &attr);
	(void)pthread_cond_init(&poller->changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	r = start(poller);
	if (r < 0) {
		ops->close(meter); /* it was asked for nothing yet */
		pthread_mutex_lock(&poller->lock);
		unref_unlock(poller);
		return r;
	}
	*ret = poller;
	return 0;
}

size_t poller_search(struct poller *poller, uint64_t deadline_ns,
		     bool has_value[static METER_ZONES_MAX])
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + deadline_ns;
	const struct timespec end = { (time_t)(end_ns / NSEC_PER_SEC),
				      (long)(end_ns % NSEC_PER_SEC) };
	size_t count;

	pthread_mutex_lock(&poller->lock);
	while (!poller->polled &&
	       pthread_cond_timedwait(&poller->changed, &poller->lock, &end) == 0)
		;
	count = poller->zone_count;
	for (size_t i = 0; i < count; i++)
		has_value[i] = poller->zones[i].has_value;
	pthread_mutex_unlock(&poller->lock);
	return count;
}

void poller_free(struct poller *poller, uint64_t deadline_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + deadline_ns;
	const struct timespec end = { (time_t)(end_ns / NSEC_PER_SEC),
				      (long)(end_ns % NSEC_PER_SEC) };

	if (!poller)
		return;
	if (poller->ops->stop)
		poller->ops->stop(poller->meter);
	pthread_mutex_lock(&poller->lock);
	poller->closing = true;
	pthread_cond_signal(&poller->wake);
	while (poller->running &&
	       pthread_cond_timedwait(&poller->changed, &poller->lock, &end) == 0)
		;
	unref_unlock(poller);
}

static struct read_result collect_zone(struct polled_zone *zone, bool is_stalled)
{
	struct read_result result = {
		.outcome = zone->is_new ? READ_DONE
			   : is_stalled ? READ_STALLED
					: READ_NOTHING,
		.error = zone->is_new ? zone->error
			 : is_stalled ? -ETIMEDOUT
				      : 0,
		.reads = zone->samples.reads,
		.refusals = zone->samples.counter.refusals,
		.wraps = zone->samples.counter.wraps,
		.dropped = zone->samples.counter.dropped,
		.refused = zone->samples.refused,
		.has_value = zone->has_value,
		.caveat = zone->caveat,
	};

	/*
	 * The last attempt may have failed after an earlier one succeeded: the earlier result still
	 * waits.
	 */
	if (zone->is_new && zone->error == 0)
		result.span = zone_samples_span(&zone->samples);
	zone->is_new = false;
	return result;
}

size_t poller_collect(struct poller *poller, bool rescan,
		      struct read_result results[static METER_ZONES_MAX], struct device_uses *uses)
{
	uint64_t patience_ns = POLLER_PATIENCE_PERIODS * poller->period_ns;
	bool is_stalled;
	size_t count;

	pthread_mutex_lock(&poller->lock);
	is_stalled = poller->begun_ns && clock_ns(CLOCK_MONOTONIC) - poller->begun_ns > patience_ns;
	poller->search_again |= rescan;
	if (rescan)
		pthread_cond_signal(&poller->wake);
	for (size_t i = 0; i < poller->zone_count; i++)
		results[i] = collect_zone(&poller->zones[i], is_stalled);
	count = poller->zone_count;
	device_uses_move(&poller->uses, uses);
	pthread_mutex_unlock(&poller->lock);
	return count;
}

bool poller_has_searched(struct poller *poller)
{
	bool searched;

	pthread_mutex_lock(&poller->lock);
	searched = poller->searched;
	pthread_mutex_unlock(&poller->lock);
	return searched;
}

struct meter *poller_meter(struct poller *poller)
{
	return poller->meter;
}
