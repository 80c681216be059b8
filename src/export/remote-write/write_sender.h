/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the messages of one queue to one receiver, in their order, on a thread of its own.
 *
 * Protocol 2.0 is tried first unless the user has chosen. A receiver does not understand it if it
 * answers 415, or 2xx without a header that counts what it has written (specification 2.0,
 * "Required Written Response Headers"), or 400 before it has ever understood one. Then everything,
 * from that message on, is sent by 1.0, until the program starts again.
 */
#pragma once

#include "base/diag.h"
#include "export/remote-write/remote_write_options.h"
#include "export/remote-write/write_queue.h"
#include "export/send/send_board.h"

#define WRITE_SLICE_SERIES 2000 /* of one request by 1.0 */
#define WRITE_SLICE_BYTES  (1024 * 1024)

struct write_sender;

struct write_sender_options {
	const char *url;
	const struct remote_write_options *options; /* borrowed */
	struct write_queue *queue;                  /* taken over, also on failure */
	struct send_receiver *counts;
	void (*start_thread)(void);
};

/* 0, or -errno with a diagnosis. */
int write_sender_start(const struct write_sender_options *options, struct write_sender **ret,
		       struct diag *diag);
struct write_queue *write_sender_queue(const struct write_sender *sender);
/* Ends a request that is under way. */
void write_sender_ask_to_stop(struct write_sender *sender);
/* After that. What waits on disk stays there. 0, or -ETIMEDOUT: see thread_join_within(). */
int write_sender_stop(struct write_sender *sender, uint64_t patience_ns);
