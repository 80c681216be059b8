/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to poll the kubelet next. Pure.
 *
 * The loop looks names up at the beginning of each interval, and demands the missing ones. It sees
 * the answer one interval later. So the best time to poll is shortly before that: earlier the
 * kubelet knows less, and a later answer is not used.
 */
#pragma once

#include <stdint.h>

struct poll_turn {
	uint64_t began_ns, took_ns; /* of the last poll */
	uint64_t pause_ns;          /* from its beginning to that of one by demand, at least */
	uint64_t poll_ns;           /* the same, at most; not less than pause_ns */
	uint64_t interval_ns;       /* of the loop; 0: names are looked up at any time */
};

/* The time of a poll for names that were demanded at @demanded_ns. */
uint64_t poll_turn_due_ns(const struct poll_turn *turn, uint64_t demanded_ns);
