// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "export/remote-write/write_record.h"
#include "export/remote-write/write_segments.h"

#define MEMORY_MESSAGES 64

struct waiting {
	char *message;
	struct write_record record;
};

struct write_queue {
	pthread_mutex_t lock;
	struct write_segments segments;
	char *folder; /* NULL: memory alone */
	bool has_disk;
	uint64_t max_bytes, max_age_ms;
	struct waiting memory[MEMORY_MESSAGES]; /* oldest first */
	size_t memory_count;
	uint64_t memory_bytes;
	struct write_queue_state state;
	/* The message that was last peeked. */
	enum { PEEKED_NOTHING, PEEKED_DISK, PEEKED_MEMORY } peeked;
	int event_fd;
};

void write_queue_close(struct write_queue *queue)
{
	if (!queue)
		return;
	write_segments_close(&queue->segments);
	for (size_t i = 0; i < queue->memory_count; i++)
		free(queue->memory[i].message);
	if (queue->event_fd >= 0)
		(void)close(queue->event_fd);
	(void)pthread_mutex_destroy(&queue->lock);
	free(queue->folder);
	free(queue);
}

int write_queue_open(const struct write_queue_options *options, struct write_queue **ret,
		     struct diag *diag)
{
	struct write_queue *queue = calloc(1, sizeof(*queue));
	int r = 0;

	if (!queue)
		return diag_set(diag, -ENOMEM, "out of memory");
	(void)pthread_mutex_init(&queue->lock, NULL);
	queue->max_age_ms = options->max_age_ms;
	queue->max_bytes = options->max_bytes;
	write_segments_init(&queue->segments);
	queue->event_fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (queue->event_fd < 0)
		r = diag_set(diag, -errno, "no descriptor is left");
	if (r == 0 && options->folder) {
		queue->folder = strdup(options->folder);
		r = queue->folder ? 0 : diag_set(diag, -ENOMEM, "out of memory");
	}
	if (r < 0)
		write_queue_close(queue);
	else
		*ret = queue;
	return r;
}

static void make_folder_above(const char *folder)
{
	char *above = strdup(folder);
	char *slash = above ? strrchr(above, '/') : NULL;

	if (slash && slash > above) {
		*slash = '\0';
		(void)mkdir(above, 0755); /* if it cannot be made, opening the folder says why */
	}
	free(above);
}

int write_queue_open_disk(struct write_queue *queue, struct diag *diag)
{
	const uint64_t one = 1;
	struct write_segments segments;
	int r;

	write_segments_init(&segments);
	make_folder_above(queue->folder);
	r = write_segments_open(&segments, queue->folder, queue->max_bytes, diag);
	if (r < 0) {
		write_segments_close(&segments);
		return r;
	}
	(void)pthread_mutex_lock(&queue->lock);
	queue->segments = segments;
	queue->has_disk = true;
	(void)pthread_mutex_unlock(&queue->lock);
	(void)!write(queue->event_fd, &one,
		     sizeof(one)); /* an earlier program may have left some */
	return 0;
}

int write_queue_fd(const struct write_queue *queue)
{
	return queue->event_fd;
}

static void drop_first(struct write_queue *queue)
{
	queue->memory_bytes -= queue->memory[0].record.len;
	free(queue->memory[0].message);
	memmove(queue->memory, queue->memory + 1, --queue->memory_count * sizeof(*queue->memory));
}

static void put_in_memory(struct write_queue *queue, const char *message,
			  const struct write_record *record)
{
	char *copy = malloc(record->len);

	if (!copy) {
		queue->state.dropped_full += record->series;
		return;
	}
	while (queue->memory_count == MEMORY_MESSAGES ||
	       (queue->memory_count && queue->memory_bytes + record->len > WRITE_MEMORY_MAX)) {
		queue->state.dropped_full += queue->memory[0].record.series;
		if (queue->peeked == PEEKED_MEMORY)
			queue->peeked = PEEKED_NOTHING;
		drop_first(queue);
	}
	memcpy(copy, message, record->len);
	queue->memory[queue->memory_count++] = (struct waiting){ copy, *record };
	queue->memory_bytes += record->len;
}

void write_queue_put(struct write_queue *queue, const char *message, size_t len, uint32_t series,
		     int64_t time_ms)
{
	const struct write_record record = { (uint32_t)len, series, 0, time_ms };
	const uint64_t one = 1;
	bool is_written = false;

	(void)pthread_mutex_lock(&queue->lock);
	if (queue->has_disk && queue->memory_count == 0) {
		uint64_t dropped = 0;

		is_written = write_segments_put(&queue->segments, message, &record, &dropped) == 0;
		queue->state.disk_errors += !is_written;
		queue->state.dropped_full += dropped;
	}
	if (!is_written)
		put_in_memory(queue, message, &record);
	(void)pthread_mutex_unlock(&queue->lock);
	(void)!write(queue->event_fd, &one, sizeof(one));
}

/* 1, 0, -errno; -EBADMSG: the rest of a file is lost. */
static int peek_any(struct write_queue *queue, struct strbuf *message, struct write_record *ret)
{
	int r = queue->has_disk ? write_segments_peek(&queue->segments, message, ret) : 0;

	queue->peeked = r > 0 ? PEEKED_DISK : PEEKED_NOTHING;
	if (r != 0 || queue->memory_count == 0)
		return r;
	*ret = queue->memory[0].record;
	strbuf_add(message, queue->memory[0].message, ret->len);
	queue->peeked = PEEKED_MEMORY;
	return strbuf_error(message) < 0 ? -ENOMEM : 1;
}

static void pop(struct write_queue *queue)
{
	if (queue->peeked == PEEKED_DISK)
		write_segments_pop(&queue->segments);
	else if (queue->peeked == PEEKED_MEMORY)
		drop_first(queue);
	queue->peeked = PEEKED_NOTHING;
}

int write_queue_peek(struct write_queue *queue, int64_t now_ms, struct strbuf *message,
		     uint32_t *ret_series)
{
	struct write_record record = { 0 };
	int r;

	(void)pthread_mutex_lock(&queue->lock);
	for (;;) {
		strbuf_reset(message);
		r = peek_any(queue, message, &record);
		if (r == -EBADMSG) {
			queue->state.dropped_damaged += MAX(record.series, 1);
			continue;
		}
		if (r <= 0 || now_ms - record.time_ms <= (int64_t)queue->max_age_ms)
			break;
		queue->state.dropped_old += record.series;
		pop(queue);
	}
	queue->state.oldest_ms = r > 0 ? record.time_ms : 0;
	(void)pthread_mutex_unlock(&queue->lock);
	*ret_series = record.series;
	return r;
}

void write_queue_pop(struct write_queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
	pop(queue);
	queue->state.oldest_ms = 0;
	(void)pthread_mutex_unlock(&queue->lock);
}

void write_queue_state(struct write_queue *queue, struct write_queue_state *ret)
{
	(void)pthread_mutex_lock(&queue->lock);
	*ret = queue->state;
	ret->bytes = queue->memory_bytes + queue->segments.bytes;
	(void)pthread_mutex_unlock(&queue->lock);
}
