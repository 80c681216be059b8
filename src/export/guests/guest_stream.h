/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a guest: the newest record of its machine goes out in each interval, and whatever
 * comes in is read and discarded. A guest that does not read costs one record of memory: a record
 * that has begun is finished first, and then the newest one follows, once the first has been taken
 * from the socket. A guest that sends more than
 * GUEST_INPUT_MAX bytes in an interval is not read from until the next one.
 *
 * All descriptors are nonblocking, in one epoll instance, and used by one thread. The data of an
 * event is a struct guest_watch, the first member of a stream, a dialogue or a listener.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "export/guests/guest_table.h"

#define GUEST_INPUT_MAX 4096

enum guest_watch_kind {
	GUEST_WATCH_WAKE, /* a new snapshot */
	GUEST_WATCH_STOP,
	GUEST_WATCH_VSOCK, /* the listener of all guests */
	GUEST_WATCH_DOOR,  /* a listener of one guest */
	GUEST_WATCH_STREAM,
	GUEST_WATCH_DIALOGUE, /* guest_dialogue.h */
};

struct guest_watch {
	enum guest_watch_kind kind;
	int fd;
};

/* A channel has one: cumulative, except for @connected. Other threads read it. */
struct guest_counts {
	uint64_t connected;
	uint64_t records;
	uint64_t dropped;       /* records that a guest did not read in time */
	uint64_t unknown_peers; /* closed at once */
	uint64_t ignored;       /* lines of a guest that are no request */
	uint64_t refused;       /* beyond the limits of a guest */
	uint64_t errors;        /* a socket or file could not be made, connected or written */
};

static inline void guest_count(uint64_t *counter, int64_t by)
{
	(void)__atomic_add_fetch(counter, (uint64_t)by, __ATOMIC_RELAXED);
}

/* Errors that the log has: each once, because a guest that causes them could fill the log. */
struct guest_errors {
	uint64_t seen[3]; /* bit e: errno e */
};

/* True from the second time that @error, -errno, is given. */
static inline bool guest_errors_have(struct guest_errors *errors, int error)
{
	unsigned number = (unsigned)-error % (sizeof(errors->seen) * 8);
	uint64_t bit = 1ULL << number % 64, *seen = &errors->seen[number / 64];
	bool has = *seen & bit;

	*seen |= bit;
	return has;
}

struct guest_stream {
	struct guest_watch watch;
	struct guest *guest;
	struct guest_counts *counts;
	int epoll_fd;
	uint32_t events; /* that are waited for */
	uint32_t input_left;
	bool newest_waits;   /* a newer record has not begun */
	uint16_t size, sent; /* of the record that was sent last */
	uint8_t *rest;       /* a copy of that record while some of it waits; NULL: it does not */
};

/* 0, or -errno, as guest_watch_change(). */
int guest_watch_add(int epoll_fd, struct guest_watch *watch, uint32_t events);
/*
 * Takes @fd over, which is connected, and sends the guest's newest record, if there is one. The
 * stream, or NULL: the guest has GUEST_STREAMS, or no memory; @fd is closed.
 */
struct guest_stream *guest_stream_open(int epoll_fd, int fd, struct guest *guest,
				       struct guest_counts *counts);
void guest_stream_close(struct guest_stream *stream);
/* The guest has a new record. False: the connection has ended, and the stream is gone. */
bool guest_stream_send(struct guest_stream *stream);
/* Handles an event of epoll: false as above. */
bool guest_stream_handle(struct guest_stream *stream, uint32_t events);
