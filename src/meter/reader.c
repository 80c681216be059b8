// SPDX-License-Identifier: Apache-2.0
/*
 * A slot is one thing to do: slot 0 is the rescan, slot i + 1 the read of zone i. A pass marks
 * slots as wanted, as does the worker itself when a zone is due between two passes. The worker in
 * charge takes them in order, and does each without the lock; the result frees the slot, even if
 * the worker is no longer in charge. If a slot takes a quarter of the deadline while another one
 * waits, the next idle worker takes charge. The worker in charge keeps a spare ready, because
 * pthread_create() in the pass could hang (clone() waits for a migration of the cgroup, or for
 * memory). The last worker frees the reader, its meter and its lock. The file is long because all
 * of this is one state under one lock.
 */
#include "meter/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "meter/zone_samples.h"

#define SLOT_RESCAN   0
#define SLOT_COUNT    (METER_ZONES_MAX + 1)
#define PATIENCE_PART 4
#define SPARES_MAX    2 /* one that waits while another is about to return */

struct slot {
	bool wanted;
	bool in_flight;
	bool overdue; /* in flight for longer than its pass waited: its result is too old */
	bool done;    /* error is of this pass */
	int error;
	uint64_t begun_ns;           /* with in_flight */
	struct zone_samples samples; /* not of the rescan */
	bool has_value;              /* a reading was good, at least once */
	enum zone_caveat caveat;     /* of the last good reading */
};

/* Passes that the worker begins by itself. */
struct expected_pass {
	uint64_t at_ns, period_ns; /* period 0: there is none */
	uint64_t fresh_ns, deadline_ns;
	uint64_t begun_ns; /* and is not taken; 0: it has not begun */
	bool told;         /* that it is over, by the descriptor */
};

struct reader {
	const struct meter_ops *ops;
	struct meter *meter;
	uint64_t max_power_uw;   /* 0: by kind */
	pthread_mutex_t lock;    /* all below */
	pthread_cond_t work;     /* for the worker in charge: wanted slots, or closing */
	pthread_cond_t takeover; /* for spares: none is in charge, or closing */
	pthread_cond_t progress; /* the worker in charge has nothing to do, or another returned */
	unsigned refs;           /* owner and workers */
	unsigned workers;
	unsigned spares;             /* of them, those that wait for a takeover */
	bool spare_is_coming;        /* being made */
	unsigned long spare_refused; /* the pass in which no thread could be made */
	unsigned long active;        /* number of the worker in charge; 0: none */
	unsigned long last_worker;
	bool closing;
	bool searched;
	bool reading;       /* a pass over the zones is going on */
	unsigned long pass; /* number of this or the last one */
	struct expected_pass expected;
	int over_fd;         /* an eventfd: the expected pass is over; -1: there is none */
	size_t busy_slot;    /* of the worker in charge; SLOT_COUNT: none */
	size_t first_wanted; /* no slot before it is wanted */
	size_t zone_count;
	struct slot slots[SLOT_COUNT];
};

struct worker_start {
	struct reader *reader;
	unsigned long number;
	bool is_spare;
};

static void reader_destroy(struct reader *reader)
{
	reader->ops->close(reader->meter);
	(void)pthread_cond_destroy(&reader->work);
	(void)pthread_cond_destroy(&reader->takeover);
	(void)pthread_cond_destroy(&reader->progress);
	(void)pthread_mutex_destroy(&reader->lock);
	if (reader->over_fd >= 0)
		(void)close(reader->over_fd);
	free(reader);
}

/* Called with the lock held, which it releases. */
static void reader_unref_unlock(struct reader *reader)
{
	bool last = --reader->refs == 0;

	pthread_mutex_unlock(&reader->lock);
	if (last)
		reader_destroy(reader);
}

static void want(struct reader *reader, size_t index, bool wanted)
{
	reader->slots[index].wanted = wanted;
	if (wanted && index < reader->first_wanted)
		reader->first_wanted = index;
}

static size_t next_wanted(struct reader *reader)
{
	size_t i = reader->first_wanted;

	while (i <= reader->zone_count && !reader->slots[i].wanted)
		i++;
	reader->first_wanted = i;
	for (; i <= reader->zone_count; i++) {
		if (reader->slots[i].wanted && !reader->slots[i].in_flight)
			return i;
	}
	return SLOT_COUNT;
}

/* The time of the expected pass, or of the one after it. */
static uint64_t expected_ns(const struct reader *reader)
{
	const struct expected_pass *expected = &reader->expected;

	if (!expected->period_ns)
		return UINT64_MAX;
	return expected->begun_ns ? expected->at_ns + expected->period_ns : expected->at_ns;
}

/*
 * When the expected pass begins, or the first zone that is not under way must be read again;
 * UINT64_MAX: never.
 */
static uint64_t next_due_ns(const struct reader *reader)
{
	uint64_t first_ns = expected_ns(reader);

	for (size_t i = 1; i <= reader->zone_count; i++) {
		uint64_t due_ns = zone_samples_due_ns(&reader->slots[i].samples);

		if (!reader->slots[i].in_flight && due_ns < first_ns)
			first_ns = due_ns;
	}
	return first_ns;
}

static void want_due_zones(struct reader *reader)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns < next_due_ns(reader))
		return;
	for (size_t i = 1; i <= reader->zone_count; i++) {
		const struct slot *slot = &reader->slots[i];

		want(reader, i, !slot->in_flight && zone_samples_may_join(&slot->samples, now_ns));
	}
}

/* Zones that a rescan has found are read in the same pass, if that is still going on. */
static void adopt_zones(struct reader *reader)
{
	size_t count = reader->ops->zone_count(reader->meter);

	for (; reader->zone_count < count && reader->zone_count < METER_ZONES_MAX;
	     reader->zone_count++) {
		const struct zone *zone = reader->ops->zone_at(reader->meter, reader->zone_count);
		struct slot *slot = &reader->slots[reader->zone_count + 1];

		slot->samples.max_power_uw = reader->max_power_uw
						     ? reader->max_power_uw
						     : zone_kind_info[zone->kind].max_power_uw;
		want(reader, reader->zone_count + 1, reader->reading);
	}
}

static void finish_slot(struct reader *reader, size_t index, int error,
			const struct raw_reading *raw, uint64_t begun_ns)
{
	struct slot *slot = &reader->slots[index];
	const struct reading_time when = { begun_ns, clock_ns(CLOCK_MONOTONIC),
					   clock_ns(CLOCK_BOOTTIME) };

	slot->in_flight = false;
	if (index == SLOT_RESCAN) {
		reader->searched = true;
		adopt_zones(reader);
	} else if (slot->overdue) {
		want(reader, index, reader->reading); /* again: the age of this one is unknown */
	} else {
		slot->error = zone_samples_take(&slot->samples, error, raw, &when);
		slot->has_value |= slot->error == 0 && !slot->samples.refused;
		if (slot->error == 0)
			slot->caveat = raw->caveat;
		slot->done = reader->reading;
	}
	slot->overdue = false;
}

/*
 * Nothing of this pass is left to begin, and nothing of it that may still come in time is under
 * way. A zone may be due again before that.
 */
static bool pass_over(const struct reader *reader)
{
	for (size_t i = 0; i <= reader->zone_count; i++) {
		const struct slot *slot = &reader->slots[i];

		if (!slot->done && (slot->in_flight ? !slot->overdue : slot->wanted))
			return false;
	}
	return true;
}

/* Called and returns with the lock held, which it drops for the call into the meter. */
static void take_slot(struct reader *reader, size_t index, unsigned long number)
{
	struct slot *slot = &reader->slots[index];
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct raw_reading raw = { 0 };
	int error;

	slot->wanted = false;
	slot->in_flight = true;
	slot->begun_ns = begun_ns;
	reader->busy_slot = index;
	pthread_mutex_unlock(&reader->lock);
	error = index == SLOT_RESCAN ? reader->ops->rescan(reader->meter)
				     : reader->ops->read_raw(reader->meter, index - 1, &raw);
	pthread_mutex_lock(&reader->lock);
	finish_slot(reader, index, error, &raw, begun_ns);
	if (reader->active == number)
		reader->busy_slot = SLOT_COUNT;
	if (next_wanted(reader) == SLOT_COUNT && pass_over(reader))
		pthread_cond_signal(&reader->progress);
}

static void begin_pass(struct reader *reader, bool rescan, bool reading, uint64_t now_ns,
		       uint64_t deadline_ns)
{
	reader->pass++;
	reader->reading = reading;
	for (size_t i = 0; i <= reader->zone_count; i++) {
		struct slot *slot = &reader->slots[i];

		slot->done = false;
		want(reader, i, (i == SLOT_RESCAN ? rescan : reading) && !slot->in_flight);
		/* A read between passes that has just begun is as good as one of this pass. */
		slot->overdue |= slot->in_flight && now_ns > slot->begun_ns + deadline_ns;
	}
}

static void begin_expected(struct reader *reader)
{
	struct expected_pass *expected = &reader->expected;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns < expected_ns(reader))
		return;
	if (expected->begun_ns || reader->reading) {
		expected->period_ns = 0; /* the last one is not taken yet: nothing waits for this */
		return;
	}
	expected->begun_ns = now_ns;
	begin_pass(reader, false, true, now_ns, expected->deadline_ns);
}

static void tell_expected(struct reader *reader)
{
	struct expected_pass *expected = &reader->expected;

	if (!expected->begun_ns || expected->told || !pass_over(reader))
		return;
	expected->told = true;
	(void)eventfd_write(reader->over_fd, 1); /* at most 1 is in it: cannot fail */
}

static int start_worker(struct reader *reader, bool is_spare);

static bool needs_spare(const struct reader *reader)
{
	return reader->spares == 0 && !reader->spare_is_coming &&
	       reader->spare_refused != reader->pass;
}

/* Called and returns with the lock held, which it drops. */
static void make_spare(struct reader *reader)
{
	reader->spare_is_coming = true;
	if (start_worker(reader, true) < 0) {
		reader->spare_is_coming = false;
		reader->spare_refused = reader->pass; /* tried again in the next one */
	}
}

static void work_in_charge(struct reader *reader, unsigned long number)
{
	size_t slot;
	uint64_t due_ns;

	begin_expected(reader);
	slot = next_wanted(reader);
	if (slot == SLOT_COUNT) {
		want_due_zones(reader);
		slot = next_wanted(reader);
	}
	if (slot != SLOT_COUNT && needs_spare(reader)) {
		make_spare(reader); /* without the lock: all may be different now */
		return;
	}
	if (slot != SLOT_COUNT) {
		take_slot(reader, slot, number);
		return;
	}
	pthread_cond_signal(&reader->progress);
	tell_expected(reader);
	due_ns = next_due_ns(reader);
	if (due_ns == UINT64_MAX) {
		pthread_cond_wait(&reader->work, &reader->lock);
	} else {
		const struct timespec due = { (time_t)(due_ns / NSEC_PER_SEC),
					      (long)(due_ns % NSEC_PER_SEC) };

		(void)pthread_cond_timedwait(&reader->work, &reader->lock, &due);
	}
}

static void *worker_main(void *arg)
{
	CLEANUP_FREE struct worker_start *start = arg;
	struct reader *reader = start->reader;

	pthread_mutex_lock(&reader->lock);
	if (start->is_spare)
		reader->spare_is_coming = false;
	while (!reader->closing) {
		if (reader->active == 0)
			reader->active = start->number;
		if (reader->active == start->number) {
			work_in_charge(reader, start->number);
			continue;
		}
		if (reader->spares >= SPARES_MAX)
			break;
		reader->spares++;
		pthread_cond_signal(&reader->progress);
		pthread_cond_wait(&reader->takeover, &reader->lock);
		reader->spares--;
	}
	if (reader->active == start->number)
		reader->active = 0;
	reader->workers--;
	pthread_cond_signal(&reader->progress);
	reader_unref_unlock(reader);
	return NULL;
}

/* Called and returns with the lock held, which it drops. */
static int start_worker(struct reader *reader, bool is_spare)
{
	CLEANUP_FREE struct worker_start *start = malloc(sizeof(*start));
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	if (!start)
		return -ENOMEM;
	*start = (struct worker_start){ reader, ++reader->last_worker, is_spare };
	reader->refs++;
	reader->workers++;
	pthread_mutex_unlock(&reader->lock);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, worker_main, start);
	(void)pthread_attr_destroy(&attr);
	pthread_mutex_lock(&reader->lock);
	if (r != 0) {
		reader->refs--; /* never the last: the caller has one, too */
		reader->workers--;
		return -r;
	}
	start = NULL; /* the thread frees it */
	return 0;
}

static void wait_until(struct reader *reader, uint64_t time_ns)
{
	struct timespec ts = { (time_t)(time_ns / NSEC_PER_SEC), (long)(time_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(&reader->progress, &reader->lock, &ts);
}

/* Leaves the worker in charge alone with its call; a spare takes the rest. */
static void hand_over(struct reader *reader)
{
	reader->active = 0;
	reader->busy_slot = SLOT_COUNT;
	pthread_cond_signal(&reader->takeover);
}

/*
 * True if the worker in charge has used up the patience with its slot, on which others wait.
 * Patience runs from the start of its call, not from our own: a worker that the scheduler keeps
 * waiting is not stuck.
 */
static bool is_stuck(struct reader *reader, uint64_t now_ns, uint64_t patience_ns)
{
	return reader->busy_slot != SLOT_COUNT && next_wanted(reader) != SLOT_COUNT &&
	       now_ns >= reader->slots[reader->busy_slot].begun_ns + patience_ns;
}

/* When to look again; `progress` signals the end of the pass and the progress of a spare. */
static uint64_t next_look_ns(struct reader *reader, uint64_t now_ns, uint64_t patience_ns)
{
	if (next_wanted(reader) == SLOT_COUNT || reader->spares == 0)
		return UINT64_MAX;
	if (reader->busy_slot == SLOT_COUNT)
		return now_ns + patience_ns;
	return reader->slots[reader->busy_slot].begun_ns + patience_ns;
}

/* With the lock held: waits until the pass is over or the deadline has passed. */
static void wait_for_pass(struct reader *reader, uint64_t start_ns, uint64_t deadline_ns)
{
	uint64_t patience_ns = deadline_ns / PATIENCE_PART + 1;
	uint64_t end_ns = start_ns + deadline_ns;
	uint64_t now_ns = start_ns;

	while (!pass_over(reader) && now_ns < end_ns) {
		uint64_t look_ns;

		if (reader->spares > 0 && is_stuck(reader, now_ns, patience_ns))
			hand_over(reader);
		look_ns = next_look_ns(reader, now_ns, patience_ns);
		wait_until(reader, look_ns < end_ns ? look_ns : end_ns);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	for (size_t i = 0; i <= reader->zone_count; i++)
		reader->slots[i].overdue = reader->slots[i].in_flight && !reader->slots[i].done;
	if (reader->busy_slot != SLOT_COUNT && reader->spares > 0)
		hand_over(reader);
}

static struct read_result collect_zone(struct slot *slot)
{
	struct read_result result;

	slot->samples.reads += !slot->done; /* tried, but without a result in time */
	result = (struct read_result){
		.outcome = slot->done        ? READ_DONE
			   : slot->in_flight ? READ_STALLED
					     : READ_MISSED,
		.error = slot->done ? slot->error : -ETIMEDOUT,
		.reads = slot->samples.reads,
		.refusals = slot->samples.counter.refusals,
		.wraps = slot->samples.counter.wraps,
		.dropped = slot->samples.counter.dropped,
		.refused = slot->samples.refused,
		.has_value = slot->has_value,
		.caveat = slot->caveat,
	};

	if (slot->done && slot->error == 0)
		result.span = zone_samples_span(&slot->samples);
	return result;
}

static void end_pass(struct reader *reader, struct read_result *results)
{
	for (size_t i = 0; i < reader->zone_count; i++) {
		results[i] = collect_zone(&reader->slots[i + 1]);
		reader->slots[i + 1].wanted = false;
	}
	reader->slots[SLOT_RESCAN].wanted = false;
	reader->reading = false;
}

/* True if the expected pass is as good as one that begins at @now_ns; the next one is expected. */
static bool take_expected(struct reader *reader, uint64_t now_ns)
{
	struct expected_pass *expected = &reader->expected;
	bool is_fresh = expected->begun_ns && now_ns - expected->begun_ns <= expected->fresh_ns;
	eventfd_t count;

	if (expected->told)
		(void)eventfd_read(reader->over_fd, &count);
	expected->told = false;
	expected->begun_ns = 0;
	if (expected->period_ns && now_ns >= expected->at_ns)
		expected->at_ns += ((now_ns - expected->at_ns) / expected->period_ns + 1) *
				   expected->period_ns;
	return is_fresh;
}

/* With the lock held. */
static void do_pass(struct reader *reader, bool rescan, bool reading, uint64_t deadline_ns)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	bool has_begun = take_expected(reader, start_ns) && !rescan;

	if (has_begun && pass_over(reader))
		return;
	if (!has_begun)
		begin_pass(reader, rescan, reading, start_ns, deadline_ns);
	if (reader->workers == 0 &&
	    (next_wanted(reader) == SLOT_COUNT || start_worker(reader, false) < 0))
		return;
	/* Without the lock: else the worker would wake up only to wait for that. */
	pthread_mutex_unlock(&reader->lock);
	pthread_cond_signal(&reader->work);
	pthread_mutex_lock(&reader->lock);
	wait_for_pass(reader, start_ns, deadline_ns);
}

size_t reader_search(struct reader *reader, uint64_t deadline_ns,
		     bool has_value[static METER_ZONES_MAX])
{
	size_t count;

	pthread_mutex_lock(&reader->lock);
	do_pass(reader, true, true, deadline_ns);
	for (size_t i = 0; i <= reader->zone_count; i++) {
		struct slot *slot = &reader->slots[i];

		slot->wanted = false;
		/* One that is still under way is too old for the first pass. */
		slot->samples = (struct zone_samples){ .max_power_uw = slot->samples.max_power_uw };
		if (i != SLOT_RESCAN)
			has_value[i - 1] = slot->has_value;
	}
	reader->reading = false;
	count = reader->zone_count;
	pthread_mutex_unlock(&reader->lock);
	return count;
}

size_t reader_pass(struct reader *reader, bool rescan, uint64_t deadline_ns,
		   struct read_result results[static METER_ZONES_MAX])
{
	size_t count;

	pthread_mutex_lock(&reader->lock);
	do_pass(reader, rescan, true, deadline_ns);
	end_pass(reader, results);
	count = reader->zone_count;
	pthread_mutex_unlock(&reader->lock);
	return count;
}

static bool any_in_flight(const struct reader *reader)
{
	bool any = false;

	for (size_t i = 0; i <= reader->zone_count; i++)
		any |= reader->slots[i].in_flight;
	return any;
}

int reader_expect(struct reader *reader, uint64_t at_ns, uint64_t period_ns, uint64_t fresh_ns,
		  uint64_t deadline_ns)
{
	struct expected_pass *expected = &reader->expected;
	bool can, is_new;

	pthread_mutex_lock(&reader->lock);
	if (reader->over_fd < 0)
		reader->over_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	can = period_ns && reader->over_fd >= 0 && reader->workers > 0 && !any_in_flight(reader);
	is_new = can && (expected->period_ns != period_ns || expected->at_ns != at_ns);
	expected->at_ns = at_ns;
	expected->period_ns = can ? period_ns : 0;
	expected->fresh_ns = fresh_ns;
	expected->deadline_ns = deadline_ns;
	pthread_mutex_unlock(&reader->lock);
	if (is_new)
		pthread_cond_signal(&reader->work);
	return can ? reader->over_fd : -1;
}

bool reader_has_searched(struct reader *reader)
{
	bool searched;

	pthread_mutex_lock(&reader->lock);
	searched = reader->searched;
	pthread_mutex_unlock(&reader->lock);
	return searched;
}

struct meter *reader_meter(struct reader *reader)
{
	return reader->meter;
}

/* These cannot fail on Linux. */
static void init_locks(struct reader *reader)
{
	pthread_condattr_t attr;

	(void)pthread_mutex_init(&reader->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&reader->work, &attr);
	(void)pthread_cond_init(&reader->takeover, &attr);
	(void)pthread_cond_init(&reader->progress, &attr);
	(void)pthread_condattr_destroy(&attr);
}

int reader_new(const struct meter_ops *ops, struct meter *meter, uint64_t max_power_uw,
	       struct reader **ret)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		ops->close(meter);
		return -ENOMEM;
	}
	reader->ops = ops;
	reader->meter = meter;
	reader->max_power_uw = max_power_uw;
	reader->refs = 1;
	reader->busy_slot = SLOT_COUNT;
	reader->over_fd = -1;
	init_locks(reader);
	*ret = reader;
	return 0;
}

void reader_free(struct reader *reader, uint64_t deadline_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + deadline_ns;

	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->closing = true;
	pthread_cond_broadcast(&reader->work);
	pthread_cond_broadcast(&reader->takeover);
	while (reader->workers > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
		wait_until(reader, end_ns);
	reader_unref_unlock(reader);
}
