/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every family that Kepler exports, once: the renderer walks this table in its order,
 * docs/metrics.md is made from it. Adding a metric is adding a row; if no emitter fits, a function
 * in one of the emit_*.c files.
 */
#pragma once

#include <stddef.h>

#include "base/strbuf.h"

#define METRIC_ZONE "<zone>" /* in a name: one family for each zone name the node has */

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_INFO, METRIC_HISTOGRAM };

struct render;
struct metric;
/* Writes the samples of one family (of one zone name, for names with <zone>). */
typedef void metric_emitter(struct render *render, const struct metric *metric);

struct metric {
	const char *name; /* without _total and _info, which follow from the type */
	enum metric_type type;
	const char *unit;   /* the end of the name; "" none */
	unsigned schemas;   /* enum metrics_schema, as bits */
	const char *labels; /* for people */
	const char *help;
	metric_emitter *emit;
	unsigned detail; /* what the emitter shows: a level, a mode, an offset */
};

const struct metric *metric_table(size_t *ret_count);

/* docs/metrics.md. 0 or -ENOMEM. */
int metric_reference(struct strbuf *out);
