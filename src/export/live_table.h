/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small live table of `kepler run` on a terminal: the node's power and that of each process.
 *
 * Shows a power_picture, so every process from the first interval on, admitted to the metrics or
 * not. It is drawn into a buffer; live_screen.h shows it.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "snapshot/power_picture.h"

struct live_table_view {
	const char *url;        /* "http://127.0.0.1:28282/metrics" */
	const char *source;     /* one line: what it measures with */
	unsigned rows, columns; /* of the terminal; 0: 24 × 80 */
	bool colour;
};

/*
 * Appends one frame; without a URL and the lines around it where that is "". Pure. 0 or -ENOMEM.
 */
int live_table_draw(const struct power_picture *picture, const struct live_table_view *view,
		    struct strbuf *out);
