/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the live table is shown: a terminal that may have been stopped (^S) or that nothing reads
 * any more, where a write waits for as long as that lasts. So a thread writes.
 *
 * One frame is under way at a time. Those that are drawn meanwhile are not shown: the next one says
 * it all anew. The descriptor stays as it is, as the shell has it as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/offload.h"
#include "base/strbuf.h"

struct screen_job;

/* All zero at first; @jobs is made with the first frame. One thread calls all of it. */
struct live_screen {
	struct offload *jobs;
	struct screen_job *at_work;
};

/*
 * Writes @frame over the last one on @fd, at once, so that it does not flicker. False: not shown,
 * as the last one is still under way, or for want of memory or a thread. Errors of the terminal are
 * ignored: one that is gone is no reason to stop. Never waits.
 */
bool live_screen_show(struct live_screen *screen, int fd, const struct strbuf *frame);
/* Waits at most @deadline_ns for the last frame, which is then left to its thread. */
void live_screen_close(struct live_screen *screen, uint64_t deadline_ns);
