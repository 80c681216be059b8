/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of an exporter in Prometheus' text format (version 0.0.4), as series: a line is
 * NAME{LABEL="VALUE",…} NUMBER [MILLISECONDS], and one that begins with # is a comment. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "samples/series_reader.h"

/*
 * Calls the sink with each series of the page and its point at @time_us, the time of the request,
 * as Prometheus does. 0; -EPROTO with LINE and the fault; -E2BIG if a series has more labels than
 * SERIES_LABELS_MAX; -ENOMEM; or the result of the sink, without a diagnosis. @text need not be
 * terminated.
 */
int exposition_read(const char *text, size_t len, int64_t time_us, const struct series_sink *sink,
		    struct diag *diag);
