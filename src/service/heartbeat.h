/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the loop still running? The loop records when it last turned, and other threads read that.
 *
 * The limit is --monitor.hang-limit, and never less than three intervals: the loop turns at least
 * once an interval, and on a starved machine an interval's work may take as long as the interval.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HEARTBEAT_INTERVALS 3

/* Members are atomic: the loop's thread writes, any thread reads. Times are CLOCK_MONOTONIC. */
struct heartbeat {
	uint64_t beat_ns;
	uint64_t limit_ns;
	const char *doing; /* a static text: "reading the meters" */
};

/* Before any other thread sees it. */
void heartbeat_init(struct heartbeat *heartbeat, uint64_t now_ns, uint64_t limit_ns);
/* The loop has turned. */
void heartbeat_beat(struct heartbeat *heartbeat, uint64_t now_ns);
/* The step that the loop begins now; @doing is static. */
void heartbeat_doing(struct heartbeat *heartbeat, const char *doing);
void heartbeat_set_limit(struct heartbeat *heartbeat, uint64_t limit_ns);
/* Pure: the limit for an interval. */
uint64_t heartbeat_limit_ns(uint64_t hang_limit_ns, uint64_t interval_ns);

struct heartbeat_state {
	bool alive;
	uint64_t silence_ns; /* since the last turn */
	uint64_t limit_ns;
	const char *doing;
};

/* From any thread. */
struct heartbeat_state heartbeat_look(const struct heartbeat *heartbeat, uint64_t now_ns);
