/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earlier intervals for `kepler top --at=`: the recordings of an exporter (--record.dir) are booked
 * again with the options of this configuration, up to the interval that is shown. Its answer is
 * that of /api/v1/now; energy counts from the beginning of the recording. One thread.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "export/now_page.h"

struct top_past;

/*
 * Goes to the interval of @at_ms (time of day), or to the nearest that is recorded. 0, or -errno
 * with a diagnosis. @config is borrowed.
 */
int top_past_open(const struct config *config, int64_t at_ms, struct top_past **ret,
		  struct diag *diag);
void top_past_close(struct top_past *past); /* NULL is fine */
/* One interval later or earlier (@steps is 1 or -1). -ENODATA with a diagnosis: there is none. */
int top_past_move(struct top_past *past, int steps, struct diag *diag);
/* The answer for the present interval. 0, or -errno. */
int top_past_fetch(const struct top_past *past, const struct now_query *query, struct strbuf *ret);
