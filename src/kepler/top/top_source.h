/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `kepler top` has its readings from: a running exporter, over its local socket, a session of
 * its own, or recordings. All make the same answer of /api/v1/now, so that what is shown does not
 * depend on it. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "top/top_state.h"

struct top_source;

/*
 * Where no exporter answers at local.socket, and @may_measure, the process measures by itself, as
 * `kepler run` does. @follows: it is read again and again, so an exporter is asked for its answers
 * as they come (top_feed.h). 0, or -errno with a diagnosis that says what to do.
 */
int top_source_open(const struct config *config, bool may_measure, bool follows,
		    struct top_source **ret, struct diag *diag);
/* Recordings of the time from @at_ms (time of day) on: top_past.h. */
int top_source_open_past(const struct config *config, int64_t at_ms, struct top_source **ret,
			 struct diag *diag);
void top_source_close(struct top_source *source); /* NULL is fine */
/* Does it show recordings? If so, top_source_move() goes to the interval before or after: -1, 1. */
bool top_source_is_past(const struct top_source *source);
int top_source_move(struct top_source *source, int steps, struct diag *diag);
/* Does it measure by itself? */
bool top_source_measures(const struct top_source *source);
/* Does it say when there is a new answer? If not, it is due each second. */
bool top_source_is_fed(const struct top_source *source);
/*
 * The newest answer, as JSON in @ret: rows of that level, order and number. 0; -EAGAIN: there is
 * none yet; or -errno with a diagnosis, and the next call tries again.
 */
int top_source_fetch(struct top_source *source, unsigned view, enum top_sort sort, uint32_t limit,
		     struct strbuf *ret, struct diag *diag);
/* Reads everything once more, if it measures by itself. */
void top_source_measure(struct top_source *source);
/* A descriptor that is readable if top_source_drain() is due; -1: none. */
int top_source_fd(const struct top_source *source);
/* True: there is an answer for top_source_fetch(). */
bool top_source_drain(struct top_source *source);
