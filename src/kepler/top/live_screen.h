/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the live table on a terminal. The terminal may be stopped (^S) or no longer be read, and a
 * write then waits for as long as that lasts. So a thread writes.
 *
 * One frame is under way at a time. Frames that are drawn meanwhile are skipped: the next one shows
 * everything again. The descriptor's flags are not changed, because it is shared with the shell.
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
 * because the last one is still under way, or memory or a thread is lacking. Errors of the terminal
 * are ignored, so that a lost terminal does not stop the program. Never waits.
 */
bool live_screen_show(struct live_screen *screen, int fd, const struct strbuf *frame);
/* Waits at most @deadline_ns for the last frame, which is then left to its thread. */
void live_screen_close(struct live_screen *screen, uint64_t deadline_ns);
