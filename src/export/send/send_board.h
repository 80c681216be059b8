/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The receivers to which exporters send, and what became of the data: one family of metrics for all
 * of them. An exporter enters its receivers when it starts; each is then written by one thread.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/health.h"

#define SEND_RECEIVERS_MAX 8
#define SEND_ERROR_MAX     200

/* Texts about a receiver. */
struct send_words {
	char protocol[24];          /* "remote write 2.0", "OTLP" */
	char error[SEND_ERROR_MAX]; /* why a request failed, the last time; "": none has */
	int64_t error_ms;           /* when, realtime */
};

struct send_receiver {
	char receiver[128]; /* its URL, without query */
	pthread_mutex_t lock;
	struct send_words words; /* under the lock */
	/* The rest is atomic. Samples that the receiver took; requests that are sent again. */
	uint64_t sent, retries;
	/* Samples that are lost. */
	uint64_t refused, dropped_full, dropped_disk, dropped_old, dropped_damaged;
	uint64_t rejected, dropped_replaced, dropped_large;
	uint64_t disk_errors;
	uint64_t clock_steps; /* times that the clock was set back between two pushes */
	uint64_t queue_bytes;
	int64_t oldest_ms;       /* of what waits, realtime; 0: nothing does */
	int64_t last_success_ms; /* realtime; 0: none yet */
	uint64_t last_status;    /* of its last response, 0: none */
};

/* All zero at first. */
struct send_board {
	struct send_receiver receivers[SEND_RECEIVERS_MAX];
	size_t count; /* send_board_count() */
};

/* Receivers below it are complete; from any thread. */
static inline size_t send_board_count(const struct send_board *board)
{
	return __atomic_load_n(&board->count, __ATOMIC_ACQUIRE);
}
/* A new receiver, which belongs to the board; NULL: there are too many. */
struct send_receiver *send_board_add(struct send_board *board, const char *url);

void send_speaks(struct send_receiver *receiver, const char *protocol);
/* A request has failed at @now_ms, or a part of its data. The reason is cut to size. */
void send_failed(struct send_receiver *receiver, const char *why, int64_t now_ms);
void send_words_of(struct send_receiver *receiver, struct send_words *ret);

static inline void send_count(uint64_t *counter, uint64_t more)
{
	(void)__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

extern const struct health_part send_health_part; /* of a board */
