// SPDX-License-Identifier: Apache-2.0
/*
 * The thread gathers intervals to blocks of BLOCK_BYTES, which compress well (smaller ones for a
 * small ring), and holds none back for longer than BLOCK_NS, so that a crash costs little.
 */
#include "record/record_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "record/record_block.h"
#include "record/record_encode.h"
#include "record/record_ring.h"

#define BLOCK_BYTES (64U * 1024)
#define BLOCK_NS    (10 * NSEC_PER_SEC)
#define STACK_BYTES (256U * 1024)

struct chunk {
	struct strbuf records;
	bool is_complete;
};

struct record_store {
	pthread_mutex_t lock; /* of all down to `stats` */
	pthread_cond_t changed;
	struct chunk queue[RECORD_QUEUE_CHUNKS];
	size_t first, count, bytes;
	struct strbuf spare;
	bool closing, closed, abandoned;
	bool needs_definitions;
	struct record_store_stats stats;

	/* The thread's. */
	pthread_t thread;
	char *file, *dir;
	struct record_ring ring;
	uint64_t max_bytes;
	size_t block_bytes;
	void (*start_thread)(void);
	int fd;
	uint64_t written, intervals;
	uint64_t told_lost; /* in the ends of earlier files */
	int64_t began_ms;
	struct strbuf pending, packed;
	uint64_t pending_intervals, pending_since_ns;
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
}

static void free_store(struct record_store *store)
{
	for (size_t i = 0; i < RECORD_QUEUE_CHUNKS; i++)
		strbuf_release(&store->queue[i].records);
	strbuf_release(&store->spare);
	strbuf_release(&store->pending);
	strbuf_release(&store->packed);
	if (store->fd >= 0)
		(void)close(store->fd);
	(void)pthread_mutex_destroy(&store->lock);
	(void)pthread_cond_destroy(&store->changed);
	free(store->file);
	free(store->dir);
	free(store);
}

/* ---- the thread ---- */

/* The next interval starts again with all definitions. */
static void lose(struct record_store *store, uint64_t intervals)
{
	(void)pthread_mutex_lock(&store->lock);
	store->stats.lost += intervals;
	store->stats.intervals -= intervals;
	store->needs_definitions = true;
	(void)pthread_mutex_unlock(&store->lock);
}

/* The data that was to be written is lost. */
static void fail(struct record_store *store, const char *why)
{
	if (store->fd >= 0)
		(void)close(store->fd);
	store->fd = -1;
	(void)pthread_mutex_lock(&store->lock);
	store->stats.errors++;
	(void)snprintf(store->stats.error, sizeof(store->stats.error), "%s", why);
	(void)pthread_mutex_unlock(&store->lock);
	lose(store, store->pending_intervals);
	strbuf_reset(&store->pending);
	store->pending_intervals = 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t got = write(fd, data + at, len - at);

		if (got < 0 && errno != EINTR)
			return -errno;
		at += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static void write_packed(struct record_store *store)
{
	struct diag why = { "" };
	int r = strbuf_error(&store->packed);

	if (r == 0 && store->max_bytes && store->file &&
	    store->written + store->packed.len > store->max_bytes)
		r = -EFBIG;
	if (r == 0)
		r = write_all(store->fd, store->packed.data, store->packed.len);
	if (r < 0) {
		(void)diag_set(&why, r, "%.150s: cannot be written: %s",
			       store->file ? store->file : store->dir, strerrordesc_np(-r));
		fail(store, why.text);
		return;
	}
	store->written += store->packed.len;
	store->intervals += store->pending_intervals;
	strbuf_reset(&store->pending);
	store->pending_intervals = 0;
	(void)pthread_mutex_lock(&store->lock);
	store->stats.bytes += store->packed.len;
	(void)pthread_mutex_unlock(&store->lock);
}

static void flush(struct record_store *store)
{
	int r;

	if (store->fd < 0 || !store->pending.len)
		return;
	strbuf_reset(&store->packed);
	r = strbuf_error(&store->pending);
	if (r == 0)
		r = record_block_add(&store->packed, &store->pending);
	if (r < 0)
		fail(store, "out of memory, or an interval of more than 32 MiB");
	else
		write_packed(store);
}

static void end_file(struct record_store *store)
{
	struct recorded_end last;

	if (store->fd < 0)
		return;
	(void)pthread_mutex_lock(&store->lock);
	last.lost = store->stats.lost - store->told_lost;
	store->told_lost = store->stats.lost;
	(void)pthread_mutex_unlock(&store->lock);
	last.intervals = store->intervals + store->pending_intervals;
	record_encode_end(&store->pending, &last);
	flush(store);
	if (store->fd >= 0)
		(void)close(store->fd);
	store->fd = -1;
}

static void trim(struct record_store *store)
{
	struct diag why = { "" };
	int64_t bytes = record_ring_trim(&store->ring, now_ms(), &why);

	(void)pthread_mutex_lock(&store->lock);
	if (bytes >= 0) {
		store->stats.bytes = (uint64_t)bytes;
	} else {
		store->stats.errors++;
		(void)snprintf(store->stats.error, sizeof(store->stats.error), "%.255s", why.text);
	}
	(void)pthread_mutex_unlock(&store->lock);
}

static void begin_file(struct record_store *store)
{
	struct diag why = { "" };

	if (store->dir) {
		trim(store);
		store->fd = record_ring_open_next(&store->ring, now_ms(), &why);
	}
	store->written = store->intervals = 0;
	store->began_ms = now_ms();
	if (store->fd < 0) {
		fail(store, why.text);
		return;
	}
	strbuf_reset(&store->packed);
	record_block_add_header(&store->packed);
	write_packed(store);
}

static void take_chunk(struct record_store *store, struct chunk *chunk)
{
	if (chunk->is_complete && store->dir)
		end_file(store);
	if (store->fd < 0 && chunk->is_complete && store->dir)
		begin_file(store);
	if (store->fd < 0) {
		lose(store, 1);
		return;
	}
	if (!store->pending.len)
		store->pending_since_ns = clock_ns(CLOCK_MONOTONIC);
	if (store->pending.len + chunk->records.len > RECORD_BLOCK_MAX)
		flush(store);
	strbuf_add(&store->pending, chunk->records.data, chunk->records.len);
	store->pending_intervals++;
	if (store->pending.len >= store->block_bytes)
		flush(store);
	if (store->dir && record_ring_is_due(&store->ring, store->written,
					     (uint64_t)(now_ms() - store->began_ms))) {
		(void)pthread_mutex_lock(&store->lock);
		store->needs_definitions = true;
		(void)pthread_mutex_unlock(&store->lock);
	}
}

/* Locked. Whether there is a chunk, which is taken out. */
static bool next_chunk(struct record_store *store, struct chunk *ret)
{
	if (!store->count)
		return false;
	*ret = store->queue[store->first];
	store->queue[store->first] = (struct chunk){ 0 };
	store->first = (store->first + 1) % RECORD_QUEUE_CHUNKS;
	store->count--;
	store->bytes -= ret->records.len;
	return true;
}

/* Locked, as before and after. */
static void wait_for_chunk(struct record_store *store)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(BLOCK_NS / NSEC_PER_SEC);
	if (store->pending_intervals)
		(void)pthread_cond_timedwait(&store->changed, &store->lock, &until);
	else
		(void)pthread_cond_wait(&store->changed, &store->lock);
}

/* False: there is nothing more to come. */
static bool turn(struct record_store *store)
{
	struct chunk chunk = { 0 };
	bool got, closing;

	(void)pthread_mutex_lock(&store->lock);
	if (!store->count && !store->closing)
		wait_for_chunk(store);
	got = next_chunk(store, &chunk);
	closing = store->closing;
	(void)pthread_mutex_unlock(&store->lock);
	if (got)
		take_chunk(store, &chunk);
	if (store->pending_intervals &&
	    clock_ns(CLOCK_MONOTONIC) - store->pending_since_ns >= BLOCK_NS)
		flush(store);
	if (got) {
		strbuf_reset(&chunk.records);
		(void)pthread_mutex_lock(&store->lock);
		strbuf_release(&store->spare);
		store->spare = chunk.records;
		(void)pthread_mutex_unlock(&store->lock);
	}
	return got || !closing;
}

static void *thread_main(void *userdata)
{
	struct record_store *store = userdata;
	bool abandoned;

	if (store->start_thread)
		store->start_thread();
	if (store->file)
		begin_file(store);
	while (turn(store))
		;
	end_file(store);
	if (store->dir)
		trim(store);
	(void)pthread_mutex_lock(&store->lock);
	store->closed = true;
	abandoned = store->abandoned;
	(void)pthread_cond_broadcast(&store->changed);
	(void)pthread_mutex_unlock(&store->lock);
	if (abandoned)
		free_store(store);
	return NULL;
}

/* ---- the caller ---- */

int record_store_create(const char *path, struct diag *diag)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = -errno;

	if (fd >= 0)
		return fd;
	return diag_set(diag, r, "%.200s: %s", path,
			r == -EEXIST ? "exists already; remove it, or choose another name"
				     : strerrordesc_np(-r));
}

static int prepare(struct record_store *store, const struct record_store_options *options,
		   struct diag *diag)
{
	store->fd = options->file ? options->fd : -1;
	store->file = options->file ? strdup(options->file) : NULL;
	store->dir = options->dir ? strdup(options->dir) : NULL;
	if (!store->file && !store->dir)
		return diag_set(diag, -ENOMEM, "out of memory");
	store->ring = (struct record_ring){ .dir = store->dir,
					    .keep_ms = options->keep_ms,
					    .max_bytes = options->max_bytes };
	store->max_bytes = options->max_bytes;
	store->block_bytes = BLOCK_BYTES;
	if (store->dir && options->max_bytes / RECORD_RING_PARTS < BLOCK_BYTES)
		store->block_bytes = options->max_bytes / RECORD_RING_PARTS;
	store->start_thread = options->start_thread;
	store->needs_definitions = true;
	return 0;
}

int record_store_open(const struct record_store_options *options, struct record_store **ret,
		      struct diag *diag)
{
	struct record_store *store = calloc(1, sizeof(*store));
	pthread_condattr_t attr;
	int r;

	if (!store) {
		if (options->file)
			(void)close(options->fd);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	(void)pthread_mutex_init(&store->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&store->changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	r = prepare(store, options, diag);
	if (r == 0) {
		r = thread_start(&store->thread, STACK_BYTES, thread_main, store);
		if (r < 0)
			(void)diag_set(diag, r, "no thread: %s", strerrordesc_np(-r));
	}
	if (r < 0) {
		free_store(store);
		return r;
	}
	*ret = store;
	return 0;
}

bool record_store_needs_definitions(struct record_store *store)
{
	bool needs;

	(void)pthread_mutex_lock(&store->lock);
	needs = store->needs_definitions;
	(void)pthread_mutex_unlock(&store->lock);
	return needs;
}

bool record_store_put(struct record_store *store, struct strbuf *records, bool is_complete)
{
	bool fits;

	(void)pthread_mutex_lock(&store->lock);
	fits = strbuf_error(records) == 0 && store->count < RECORD_QUEUE_CHUNKS &&
	       store->bytes + records->len <= RECORD_QUEUE_BYTES;
	if (fits) {
		size_t at = (store->first + store->count) % RECORD_QUEUE_CHUNKS;

		store->queue[at] = (struct chunk){ *records, is_complete };
		store->count++;
		store->bytes += records->len;
		store->stats.intervals++;
		if (is_complete)
			store->needs_definitions = false;
		(void)pthread_cond_broadcast(&store->changed);
	} else {
		store->stats.lost++;
		store->needs_definitions = true;
	}
	(void)pthread_mutex_unlock(&store->lock);
	if (fits)
		*records = STRBUF_INIT;
	else
		strbuf_release(records);
	return fits;
}

void record_store_recycle(struct record_store *store, struct strbuf *ret)
{
	(void)pthread_mutex_lock(&store->lock);
	if (!ret->data) {
		*ret = store->spare;
		store->spare = STRBUF_INIT;
	}
	(void)pthread_mutex_unlock(&store->lock);
}

void record_store_get_stats(struct record_store *store, struct record_store_stats *ret)
{
	(void)pthread_mutex_lock(&store->lock);
	*ret = store->stats;
	(void)pthread_mutex_unlock(&store->lock);
}

int record_store_close(struct record_store *store, uint64_t patience_ns,
		       struct record_store_stats *ret)
{
	struct timespec until;
	bool closed;
	int r = 0;

	if (!store)
		return 0;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(patience_ns / NSEC_PER_SEC);
	(void)pthread_mutex_lock(&store->lock);
	store->closing = true;
	(void)pthread_cond_broadcast(&store->changed);
	while (!store->closed && r == 0)
		r = pthread_cond_timedwait(&store->changed, &store->lock, &until);
	closed = store->closed;
	store->abandoned = !closed;
	if (ret)
		*ret = store->stats;
	if (!closed)
		(void)pthread_detach(store->thread);
	(void)pthread_mutex_unlock(&store->lock);
	if (!closed)
		return -ETIMEDOUT;
	(void)pthread_join(store->thread, NULL);
	free_store(store);
	return 0;
}
