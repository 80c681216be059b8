// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_handover.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "export/disk_start.h"

#define STACK_BYTES (128 * 1024)
#define HANG_NS     (5 * NSEC_PER_SEC) /* in one message: the disk does not respond */

struct parcel {
	char *message;
	size_t len;
	uint32_t series;
	int64_t time_ms;
};

struct write_handover {
	struct write_handover_options given;
	pthread_mutex_t lock; /* never held while the disk is used */
	pthread_cond_t has_more, has_room;
	struct parcel parcels[WRITE_HANDOVER_MESSAGES]; /* [count], oldest first */
	size_t count;
	uint64_t bytes;
	uint64_t taken_ns; /* when the message was taken that the disk has now; 0: none */
	bool is_stuck;     /* the disk has not taken a message in time, or was not opened in time */
	bool is_ending;    /* nothing waits for the disk any more */
	bool is_closed;    /* no more messages come */
	struct disk_start start;
	pthread_t thread;
};

static struct parcel take_first(struct write_handover *handover)
{
	struct parcel first = handover->parcels[0];

	handover->bytes -= first.len;
	memmove(handover->parcels, handover->parcels + 1,
		--handover->count * sizeof(*handover->parcels));
	return first;
}

/* ---- the thread of the disk ---- */

/* False: there is nothing left, and the program ends. */
static bool wait_for_parcel(struct write_handover *handover, struct parcel *ret)
{
	bool has_one;

	(void)pthread_mutex_lock(&handover->lock);
	while (handover->count == 0 && !handover->is_closed)
		(void)pthread_cond_wait(&handover->has_more, &handover->lock);
	has_one = handover->count > 0;
	if (has_one) {
		*ret = take_first(handover);
		handover->taken_ns = clock_ns(CLOCK_MONOTONIC);
	}
	(void)pthread_cond_signal(&handover->has_room);
	(void)pthread_mutex_unlock(&handover->lock);
	return has_one;
}

/* After the end of the program's exporters, its counts are gone. */
static void note_progress(struct write_handover *handover)
{
	(void)pthread_mutex_lock(&handover->lock);
	if (handover->is_stuck && !handover->is_ending)
		log_info("%s: remote write: the disk of remote-write.queue-dir responds",
			 handover->given.counts->receiver);
	handover->is_stuck = false;
	handover->taken_ns = 0;
	(void)pthread_mutex_unlock(&handover->lock);
}

static void note_failure(struct write_handover *handover, const char *why)
{
	(void)pthread_mutex_lock(&handover->lock);
	if (!handover->is_ending) {
		send_failed(handover->given.counts, why,
			    (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC));
		log_warn("%s: remote write: %s", handover->given.counts->receiver, why);
	}
	(void)pthread_mutex_unlock(&handover->lock);
}

static void open_queue(struct write_handover *handover)
{
	struct diag diag = { "" };
	int r = write_queue_open_disk(handover->given.queue, &diag);

	if (disk_start_end(&handover->start, r, &diag))
		return;
	if (r < 0)
		note_failure(handover, diag.text);
	note_progress(handover);
}

static void *serve(void *userdata)
{
	struct write_handover *handover = userdata;
	struct parcel parcel;

	(void)pthread_setname_np(pthread_self(), "queue-disk");
	handover->given.start_thread();
	open_queue(handover);
	while (wait_for_parcel(handover, &parcel)) {
		write_queue_put(handover->given.queue, parcel.message, parcel.len, parcel.series,
				parcel.time_ms);
		free(parcel.message);
		note_progress(handover);
	}
	return NULL;
}

/* ---- the thread that makes messages ---- */

static bool has_room(const struct write_handover *handover, size_t len)
{
	return handover->count < WRITE_HANDOVER_MESSAGES &&
	       (handover->count == 0 || handover->bytes + len <= WRITE_MEMORY_MAX);
}

/* With the lock held. */
static void note_hang(struct write_handover *handover)
{
	static const char why[] = "the disk of remote-write.queue-dir does not respond";

	handover->is_stuck = true;
	send_failed(handover->given.counts, why,
		    (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC));
	log_warn("%s: remote write: %s; nothing is sent until it does",
		 handover->given.counts->receiver, why);
}

static void wait_for_room(struct write_handover *handover, size_t len)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t until_ns = now_ns + handover->given.patience_ns;
	const struct timespec until = { (time_t)(until_ns / NSEC_PER_SEC),
					(long)(until_ns % NSEC_PER_SEC) };
	int r = 0;

	if (handover->taken_ns && now_ns > handover->taken_ns + HANG_NS)
		r = ETIMEDOUT;
	while (r == 0 && !handover->is_stuck && !handover->is_ending && !has_room(handover, len))
		r = pthread_cond_timedwait(&handover->has_room, &handover->lock, &until);
	if (r != 0 && !handover->is_stuck)
		note_hang(handover);
}

static void drop(struct write_handover *handover, struct parcel parcel)
{
	free(parcel.message);
	send_count(&handover->given.counts->dropped_disk, parcel.series);
}

void write_handover_put(struct write_handover *handover, const char *message, size_t len,
			uint32_t series, int64_t time_ms)
{
	struct parcel parcel = { malloc(len), len, series, time_ms };

	if (!parcel.message) {
		drop(handover, parcel);
		return;
	}
	memcpy(parcel.message, message, len);
	(void)pthread_mutex_lock(&handover->lock);
	wait_for_room(handover, len);
	while (!has_room(handover, len))
		drop(handover, take_first(handover));
	handover->parcels[handover->count++] = parcel;
	handover->bytes += len;
	(void)pthread_cond_signal(&handover->has_more);
	(void)pthread_mutex_unlock(&handover->lock);
}

/* ---- start and stop ---- */

static void free_all(struct write_handover *handover)
{
	for (size_t i = 0; i < handover->count; i++)
		free(handover->parcels[i].message);
	(void)pthread_cond_destroy(&handover->has_more);
	(void)pthread_cond_destroy(&handover->has_room);
	(void)pthread_mutex_destroy(&handover->lock);
	disk_start_release(&handover->start);
	free(handover);
}

int write_handover_start(const struct write_handover_options *options, struct write_handover **ret)
{
	struct write_handover *handover = calloc(1, sizeof(*handover));
	pthread_condattr_t monotonic;
	int r;

	if (!handover)
		return -ENOMEM;
	handover->given = *options;
	/* None of these can fail. */
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&handover->lock, NULL);
	(void)pthread_cond_init(&handover->has_more, NULL);
	(void)pthread_cond_init(&handover->has_room, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	disk_start_init(&handover->start);
	r = thread_start(&handover->thread, STACK_BYTES, serve, handover);
	if (r < 0)
		free_all(handover);
	else
		*ret = handover;
	return r;
}

int write_handover_wait_open(struct write_handover *handover, uint64_t until_ns, struct diag *diag)
{
	int r = disk_start_wait(&handover->start, until_ns, diag);

	if (r != -ETIMEDOUT)
		return r;
	(void)pthread_mutex_lock(&handover->lock);
	note_hang(handover);
	(void)pthread_mutex_unlock(&handover->lock);
	return 0;
}

void write_handover_ask_to_stop(struct write_handover *handover)
{
	if (!handover)
		return;
	(void)pthread_mutex_lock(&handover->lock);
	handover->is_ending = true;
	(void)pthread_cond_signal(&handover->has_room);
	(void)pthread_mutex_unlock(&handover->lock);
}

int write_handover_stop(struct write_handover *handover, uint64_t patience_ns)
{
	int r;

	if (!handover)
		return 0;
	(void)pthread_mutex_lock(&handover->lock);
	handover->is_ending = handover->is_closed = true;
	(void)pthread_cond_signal(&handover->has_more);
	(void)pthread_mutex_unlock(&handover->lock);
	r = thread_join_within(handover->thread, patience_ns);
	if (r == 0)
		free_all(handover);
	return r;
}
