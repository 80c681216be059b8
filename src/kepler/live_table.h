/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small live table of `kepler run` on a terminal: the current power of each process.
 *
 * Shows every process from the first interval on, admitted to the metrics or not. Drawn from the
 * ledger's last interval into a buffer; live_screen.h shows it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "kepler/interval.h"

struct live_table_view {
	const char *url;        /* "http://127.0.0.1:28282/metrics" */
	const char *source;     /* one line: what it measures with */
	unsigned rows, columns; /* of the terminal; 0: 24 × 80 */
	bool colour;
};

/* Appends one frame. Pure but for the engine it reads. 0 or -ENOMEM. */
int live_table_draw(const struct interval_engine *engine, const struct live_table_view *view,
		    struct strbuf *out);
