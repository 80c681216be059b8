// SPDX-License-Identifier: Apache-2.0
/*
 * Reference counts without a lock, with one exception: a reader must not take a pointer that the
 * writer is dropping, so taking the newest snapshot with its reference, and replacing it, are under
 * a mutex that is held for a few instructions. A count that fell to 0 never rises again until the
 * writer refills the buffer: readers only ever take the newest snapshot, on which the holder itself
 * has a reference.
 */
#include "snapshot/snapshot_holder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/hostile.h"
#include "base/macro.h"

#define SPARE_BUFFERS                                                                              \
	HOSTILE_OR(0, 2) /* kept for reuse; what slow readers made necessary beyond is freed */

struct wake {
	int fd;
	bool is_due; /* with the next snapshot */
	bool always; /* with each */
};

struct snapshot_holder {
	pthread_mutex_t lock;
	struct snapshot_buffer *newest;        /* under lock */
	struct snapshot_buffer *buffers;       /* all of them; the writer's */
	uint64_t sequence;                     /* of the newest; the writer's */
	struct label_pool labels;              /* the writer's */
	struct wake wakes[SNAPSHOT_WAKES_MAX]; /* under lock */
	unsigned wake_count;                   /* under lock */
	/* Atomic: when all rows were wanted last, and users of processes; 0: never. */
	uint64_t wanted_ns, users_wanted_ns;
};

int snapshot_holder_new(struct snapshot_holder **ret)
{
	struct snapshot_holder *holder = calloc(1, sizeof(*holder));
	int r;

	if (!holder)
		return -ENOMEM;
	r = pthread_mutex_init(&holder->lock, NULL);
	if (r) {
		free(holder);
		return -r;
	}
	*ret = holder;
	return 0;
}

static struct snapshot_buffer *free_buffer(struct snapshot_buffer *buffer)
{
	struct snapshot_buffer *next = buffer->next;

	free(buffer->memory);
	free(buffer);
	return next;
}

static bool is_free(const struct snapshot_buffer *buffer)
{
	/* Acquire: what the last reader did is over before the buffer is written or freed. */
	return __atomic_load_n(&buffer->references, __ATOMIC_ACQUIRE) == 0;
}

static void drop(struct snapshot_buffer *buffer)
{
	__atomic_sub_fetch(&buffer->references, 1, __ATOMIC_RELEASE);
}

/* Readers get none from here on. */
static void drop_newest(struct snapshot_holder *holder)
{
	struct snapshot_buffer *newest;

	(void)pthread_mutex_lock(&holder->lock);
	newest = holder->newest;
	holder->newest = NULL;
	(void)pthread_mutex_unlock(&holder->lock);
	if (newest)
		drop(newest);
}

int snapshot_holder_free(struct snapshot_holder *holder)
{
	if (!holder)
		return 0;
	drop_newest(holder);
	for (const struct snapshot_buffer *b = holder->buffers; b; b = b->next) {
		if (!is_free(b))
			return -EBUSY;
	}
	while (holder->buffers)
		holder->buffers = free_buffer(holder->buffers);
	for (unsigned i = 0; i < holder->wake_count; i++)
		(void)close(holder->wakes[i].fd);
	label_pool_release(&holder->labels);
	(void)pthread_mutex_destroy(&holder->lock);
	free(holder);
	return 0;
}

const struct snapshot *snapshot_get(struct snapshot_holder *holder)
{
	struct snapshot_buffer *buffer;

	(void)pthread_mutex_lock(&holder->lock);
	buffer = holder->newest;
	if (buffer)
		__atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
	(void)pthread_mutex_unlock(&holder->lock);
	return buffer ? &buffer->snapshot : NULL;
}

void snapshot_put(struct snapshot_holder *holder, const struct snapshot *snapshot)
{
	(void)holder; /* buffers are the holder's; the writer finds those that fell free */
	if (snapshot)
		drop((struct snapshot_buffer *)(uintptr_t)snapshot);
}

static int open_wake(struct snapshot_holder *holder, bool always)
{
	int fd = -ENOSPC;

	(void)pthread_mutex_lock(&holder->lock);
	if (holder->wake_count < SNAPSHOT_WAKES_MAX) {
		fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (fd < 0)
			fd = -errno;
		else
			holder->wakes[holder->wake_count++] =
				(struct wake){ .fd = fd, .is_due = always, .always = always };
	}
	(void)pthread_mutex_unlock(&holder->lock);
	return fd;
}

int snapshot_wake_open(struct snapshot_holder *holder)
{
	return open_wake(holder, true);
}

int snapshot_wake_open_asked(struct snapshot_holder *holder)
{
	return open_wake(holder, false);
}

void snapshot_wake_ask(struct snapshot_holder *holder, int fd)
{
	(void)pthread_mutex_lock(&holder->lock);
	for (unsigned i = 0; i < holder->wake_count; i++)
		holder->wakes[i].is_due |= holder->wakes[i].fd == fd;
	(void)pthread_mutex_unlock(&holder->lock);
}

/* The descriptors that a new snapshot is due at. Under the lock. */
static unsigned take_due(struct snapshot_holder *holder, int ret[static SNAPSHOT_WAKES_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < holder->wake_count; i++) {
		struct wake *wake = &holder->wakes[i];

		if (wake->is_due)
			ret[count++] = wake->fd;
		wake->is_due = wake->always;
	}
	return count;
}

void snapshot_want_rows(struct snapshot_holder *holder, uint64_t now_ns)
{
	__atomic_store_n(&holder->wanted_ns, now_ns, __ATOMIC_RELAXED);
}

void snapshot_want_users(struct snapshot_holder *holder, uint64_t now_ns)
{
	snapshot_want_rows(holder, now_ns);
	__atomic_store_n(&holder->users_wanted_ns, now_ns, __ATOMIC_RELAXED);
}

/* Since the newest one, or not long ago: intervals may be longer. */
static bool is_wanted(const struct snapshot_holder *holder, const uint64_t *at_ns, uint64_t now_ns)
{
	uint64_t wanted_ns = __atomic_load_n(at_ns, __ATOMIC_RELAXED);
	uint64_t newest_ns = holder->sequence ? holder->newest->snapshot.monotonic_ns : 0;

	return wanted_ns && (wanted_ns >= newest_ns || now_ns - wanted_ns < SNAPSHOT_WANTED_NS);
}

bool snapshot_holder_wants_rows(const struct snapshot_holder *holder, uint64_t now_ns)
{
	return is_wanted(holder, &holder->wanted_ns, now_ns);
}

bool snapshot_holder_wants_users(const struct snapshot_holder *holder, uint64_t now_ns)
{
	return is_wanted(holder, &holder->users_wanted_ns, now_ns);
}

/* The free buffer with the most memory, so that a spare one that is too small is the one to go. */
static struct snapshot_buffer *find_free(const struct snapshot_holder *holder)
{
	struct snapshot_buffer *best = NULL;

	for (struct snapshot_buffer *b = holder->buffers; b; b = b->next) {
		if (is_free(b) && (!best || b->size > best->size))
			best = b;
	}
	return best;
}

struct snapshot_buffer *snapshot_holder_take(struct snapshot_holder *holder, size_t size)
{
	struct snapshot_buffer *buffer = find_free(holder);
	void *memory;

	if (!buffer) {
		buffer = calloc(1, sizeof(*buffer));
		if (!buffer)
			return NULL;
		buffer->next = holder->buffers;
		holder->buffers = buffer;
	}
	if (buffer->size < size) {
		size += HOSTILE_OR(0, size / 4); /* some growth is coming */
		memory = malloc(size);
		if (!memory)
			return NULL;
		free(buffer->memory);
		buffer->memory = memory;
		buffer->size = size;
	}
	return buffer;
}

static void free_surplus(struct snapshot_holder *holder)
{
	unsigned int spare = 0;

	for (struct snapshot_buffer **at = &holder->buffers; *at;) {
		if (is_free(*at) && ++spare > SPARE_BUFFERS)
			*at = free_buffer(*at);
		else
			at = &(*at)->next;
	}
}

void snapshot_holder_publish(struct snapshot_holder *holder, struct snapshot_buffer *buffer)
{
	int due[SNAPSHOT_WAKES_MAX];
	struct snapshot_buffer *old;
	unsigned wakes;

	buffer->snapshot.sequence = ++holder->sequence;
	__atomic_store_n(&buffer->references, 1, __ATOMIC_RELAXED); /* the holder's */
	(void)pthread_mutex_lock(&holder->lock);
	old = holder->newest;
	holder->newest = buffer;
	wakes = take_due(holder, due);
	(void)pthread_mutex_unlock(&holder->lock);
	for (unsigned i = 0; i < wakes; i++)
		(void)eventfd_write(due[i], 1); /* a full one is readable anyway */
	if (old)
		drop(old);
	free_surplus(holder);
}

uint64_t snapshot_holder_newest(const struct snapshot_holder *holder)
{
	return holder->sequence;
}

uint64_t snapshot_holder_oldest(const struct snapshot_holder *holder)
{
	uint64_t oldest = holder->sequence;

	for (const struct snapshot_buffer *b = holder->buffers; b; b = b->next) {
		if (!is_free(b) && b->snapshot.sequence < oldest)
			oldest = b->snapshot.sequence;
	}
	return oldest;
}

struct label_pool *snapshot_holder_labels(struct snapshot_holder *holder)
{
	return &holder->labels;
}
