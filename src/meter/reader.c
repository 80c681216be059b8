// SPDX-License-Identifier: Apache-2.0
/*
 * A slot is one thing to do in a pass: slot 0 is the rescan, slot i + 1 the read of zone i. A pass
 * marks slots as wanted; the worker takes them in order, and does each without the lock. The worker
 * that is `active` goes on to the next slot; one that finds itself replaced when its call returns
 * stores the result, which frees its slot, and ends.
 *
 * Patience with one slot is a quarter of the deadline, so that a single stuck zone still leaves
 * time for the others in the same pass. The reader, its meter and its lock live until the last
 * worker has let go of them.
 */
#include "meter/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"

#define SLOT_RESCAN   0
#define SLOT_COUNT    (ZONE_MAX + 1)
#define PATIENCE_PART 4

struct slot {
	bool wanted;
	bool in_flight;
	bool done; /* result is of this pass */
	struct read_result result;
};

struct reader {
	const struct meter_ops *ops;
	struct meter *meter;
	pthread_mutex_t lock;    /* all below */
	pthread_cond_t work;     /* wanted slots, a new active worker, or closing */
	pthread_cond_t progress; /* a slot is done, or a worker ended */
	unsigned refs;           /* owner and workers */
	unsigned workers;
	unsigned long active; /* number of the worker in charge; 0: none */
	unsigned long last_worker;
	bool closing;
	bool searched;
	size_t busy_slot; /* of the active worker; SLOT_COUNT: none */
	uint64_t busy_since_ns;
	size_t zone_count;
	struct slot slots[SLOT_COUNT];
};

struct worker_start {
	struct reader *reader;
	unsigned long number;
};

static void reader_destroy(struct reader *reader)
{
	reader->ops->close(reader->meter);
	(void)pthread_cond_destroy(&reader->work);
	(void)pthread_cond_destroy(&reader->progress);
	(void)pthread_mutex_destroy(&reader->lock);
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

static size_t next_wanted(const struct reader *reader)
{
	for (size_t i = 0; i <= reader->zone_count; i++) {
		if (reader->slots[i].wanted && !reader->slots[i].in_flight)
			return i;
	}
	return SLOT_COUNT;
}

static struct read_result do_slot(struct reader *reader, size_t slot)
{
	struct read_result result = { .outcome = READ_DONE };

	if (slot == SLOT_RESCAN)
		result.error = reader->ops->rescan(reader->meter);
	else
		result.error = reader->ops->read_raw(reader->meter, slot - 1, &result.raw);
	result.time_ns = clock_ns(CLOCK_MONOTONIC);
	return result;
}

/* Zones that a rescan has found are read in the same pass, if that is still going on. */
static void adopt_zones(struct reader *reader, bool in_pass)
{
	size_t count = reader->ops->zone_count(reader->meter);

	for (size_t i = reader->zone_count; i < count && i < ZONE_MAX; i++)
		reader->slots[i + 1].wanted = in_pass;
	if (count > reader->zone_count)
		reader->zone_count = count < ZONE_MAX ? count : ZONE_MAX;
}

/* Called and returns with the lock held, which it drops for the call into the meter. */
static void take_slot(struct reader *reader, size_t index, unsigned long number)
{
	struct slot *slot = &reader->slots[index];
	struct read_result result;

	slot->wanted = false;
	slot->in_flight = true;
	reader->busy_slot = index;
	reader->busy_since_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&reader->lock);
	result = do_slot(reader, index);
	pthread_mutex_lock(&reader->lock);
	slot->in_flight = false;
	slot->result = result;
	slot->done = reader->active == number; /* a late result is nobody's */
	if (index == SLOT_RESCAN) {
		reader->searched = true;
		adopt_zones(reader, slot->done);
	}
	if (reader->active == number)
		reader->busy_slot = SLOT_COUNT;
}

static void *worker_main(void *arg)
{
	CLEANUP_FREE struct worker_start *start = arg;
	struct reader *reader = start->reader;

	pthread_mutex_lock(&reader->lock);
	while (!reader->closing && reader->active == start->number) {
		size_t slot = next_wanted(reader);

		if (slot != SLOT_COUNT) {
			take_slot(reader, slot, start->number);
			continue;
		}
		pthread_cond_signal(&reader->progress);
		pthread_cond_wait(&reader->work, &reader->lock);
	}
	reader->workers--;
	pthread_cond_signal(&reader->progress);
	reader_unref_unlock(reader);
	return NULL;
}

/* Puts a new worker in charge. With the lock held. */
static int start_worker(struct reader *reader)
{
	CLEANUP_FREE struct worker_start *start = malloc(sizeof(*start));
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	if (!start)
		return -ENOMEM;
	*start = (struct worker_start){ reader, ++reader->last_worker };
	reader->active = start->number;
	reader->busy_slot = SLOT_COUNT;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, worker_main, start);
	(void)pthread_attr_destroy(&attr);
	if (r != 0) {
		reader->active = 0;
		return -r;
	}
	start = NULL; /* the thread frees it */
	reader->refs++;
	reader->workers++;
	return 0;
}

static void wait_until(struct reader *reader, uint64_t time_ns)
{
	struct timespec ts = { (time_t)(time_ns / NSEC_PER_SEC), (long)(time_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(&reader->progress, &reader->lock, &ts);
}

static bool pass_over(const struct reader *reader)
{
	return next_wanted(reader) == SLOT_COUNT && reader->busy_slot == SLOT_COUNT;
}

/* Leaves the active worker alone with what it does, and puts another in charge of the rest. */
static int replace_worker(struct reader *reader)
{
	reader->active = 0;
	reader->busy_slot = SLOT_COUNT;
	return next_wanted(reader) == SLOT_COUNT ? 0 : start_worker(reader);
}

/*
 * With the lock held: waits until the pass is over or the deadline has passed; a stuck worker is
 * replaced on the way. Patience runs from the start of its call, not from our own: a worker that
 * the scheduler keeps waiting is not stuck.
 */
static void wait_for_pass(struct reader *reader, uint64_t start_ns, uint64_t deadline_ns)
{
	uint64_t patience_ns = deadline_ns / PATIENCE_PART + 1;
	uint64_t end_ns = start_ns + deadline_ns;
	uint64_t now_ns = start_ns;

	while (!pass_over(reader) && now_ns < end_ns) {
		bool busy = reader->busy_slot != SLOT_COUNT;
		uint64_t wake_ns = (busy ? reader->busy_since_ns : now_ns) + patience_ns;

		if (busy && now_ns >= wake_ns) {
			if (replace_worker(reader) < 0)
				break;
			continue;
		}
		wait_until(reader, wake_ns < end_ns ? wake_ns : end_ns);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	if (reader->busy_slot != SLOT_COUNT) {
		reader->active = 0; /* it ends when its call returns */
		reader->busy_slot = SLOT_COUNT;
	}
}

static void want_slots(struct reader *reader, bool rescan)
{
	for (size_t i = 0; i <= reader->zone_count; i++) {
		struct slot *slot = &reader->slots[i];

		slot->done = false;
		slot->wanted = (i != SLOT_RESCAN || rescan) && !slot->in_flight;
	}
}

static void collect(struct reader *reader, struct read_result *results)
{
	for (size_t i = 0; i < reader->zone_count; i++) {
		struct slot *slot = &reader->slots[i + 1];

		results[i] = slot->result;
		if (!slot->done)
			results[i] = (struct read_result){
				.outcome = slot->in_flight ? READ_STALLED : READ_MISSED,
				.error = -ETIMEDOUT,
			};
		slot->wanted = false;
	}
	reader->slots[SLOT_RESCAN].wanted = false;
}

size_t reader_pass(struct reader *reader, bool rescan, uint64_t deadline_ns,
		   struct read_result results[static ZONE_MAX])
{
	size_t count;

	pthread_mutex_lock(&reader->lock);
	want_slots(reader, rescan);
	if (next_wanted(reader) != SLOT_COUNT &&
	    (reader->active != 0 || start_worker(reader) == 0)) {
		pthread_cond_broadcast(&reader->work);
		wait_for_pass(reader, clock_ns(CLOCK_MONOTONIC), deadline_ns);
	}
	collect(reader, results);
	count = reader->zone_count;
	pthread_mutex_unlock(&reader->lock);
	return count;
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

int reader_new(const struct meter_ops *ops, struct meter *meter, struct reader **ret)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	pthread_condattr_t attr;

	if (!reader) {
		ops->close(meter);
		return -ENOMEM;
	}
	reader->ops = ops;
	reader->meter = meter;
	reader->refs = 1;
	reader->busy_slot = SLOT_COUNT;
	(void)pthread_mutex_init(&reader->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&reader->work, NULL);
	(void)pthread_cond_init(&reader->progress, &attr);
	(void)pthread_condattr_destroy(&attr);
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
	reader->active = 0;
	pthread_cond_broadcast(&reader->work);
	while (reader->workers > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
		wait_until(reader, end_ns);
	reader_unref_unlock(reader);
}
