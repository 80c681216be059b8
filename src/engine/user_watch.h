/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of processes, while a client asks for their power: the reader of activity reports them
 * only then.
 */
#pragma once

#include "activity/activity.h"
#include "snapshot/process_users.h"
#include "snapshot/snapshot.h"

/* All zero at first. */
struct user_watch {
	struct process_users users; /* of the interval; users.is_noted: they are asked for */
};

/* Before the pass of an interval at @now_ns (CLOCK_MONOTONIC). */
void user_watch_begin(struct user_watch *watch, const struct snapshot_holder *holder,
		      struct activity_reader *reader, uint64_t now_ns);
