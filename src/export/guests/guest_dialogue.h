/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a guest's port org.github.vhostmd.1: the guest writes "GET /metrics/XML" and gets
 * the newest record of its own machine as XML (passthrough/passthrough_xml.h), followed by an empty
 * line, as vhostmd and KubeVirt answer. Any other line is ignored and counted.
 *
 * A guest costs one answer of memory: while it does not read that, or has had GUEST_ANSWERS in an
 * interval, or sent GUEST_INPUT_MAX bytes, nothing more is read from it. Of a line that is longer
 * than the request only the length is kept. Descriptors and events are as in guest_stream.h.
 */
#pragma once

#include "base/strbuf.h"
#include "export/guests/guest_stream.h"

#define GUEST_ANSWERS 8
#define GUEST_REQUEST "GET /metrics/XML"

struct guest_dialogue {
	struct guest_watch watch;
	struct guest *guest;
	struct guest_counts *counts;
	int epoll_fd;
	uint32_t events, input_left, answers_left;
	char line[sizeof(GUEST_REQUEST) + 1]; /* with a carriage return, not terminated */
	size_t line_len;                      /* may be more than fit */
	char input[64];
	size_t input_at, input_len;
	struct strbuf answer;
	size_t sent; /* of @answer */
};

/* Takes @fd over: the guest's only dialogue, or NULL without memory, and @fd is closed. */
struct guest_dialogue *guest_dialogue_open(int epoll_fd, int fd, struct guest *guest,
					   struct guest_counts *counts);
void guest_dialogue_close(struct guest_dialogue *dialogue);
/* A new interval begins: false if the connection has ended, and the dialogue is gone. */
bool guest_dialogue_begin(struct guest_dialogue *dialogue);
/* Handles an event of epoll: false as above. */
bool guest_dialogue_handle(struct guest_dialogue *dialogue, uint32_t events);
