/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When is it the kubelet's turn again? Pure.
 *
 * The loop looks for names at the beginning of each interval, and demands then what it misses. What
 * comes in answer is looked at an interval later. So the best time to ask is shortly before that:
 * earlier the kubelet knows less, and later nothing looks.
 */
#pragma once

#include <stdint.h>

struct poll_turn {
	uint64_t began_ns, took_ns; /* of the last poll */
	uint64_t pause_ns;          /* from its beginning to that of one by demand, at least */
	uint64_t poll_ns;           /* the same, at most; not less than pause_ns */
	uint64_t interval_ns;       /* the loop's; 0: something looks at any time */
};

/* The time of a poll for what was demanded at @demanded_ns. */
uint64_t poll_turn_due_ns(const struct poll_turn *turn, uint64_t demanded_ns);
