/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One family after the other as text: HELP, TYPE, UNIT, then samples, as Prometheus' text format
 * and OpenMetrics want them.
 *
 * A family's head is written with its first sample, so that a family without samples leaves no
 * trace. In OpenMetrics a counter's family has no _total, but its samples do, and each is followed
 * by its _created where these are wanted.
 */
#pragma once

#include "base/strbuf.h"
#include "export/sink.h"

struct text_sink {
	struct sink sink; /* first */
	struct strbuf *out;
	bool openmetrics;
	bool created; /* counters and histograms say when they began */
	const struct family *family;
	char name[FAMILY_NAME_MAX]; /* without _total, _info */
	bool headed;                /* the head of this family is written */
	struct strbuf scratch;      /* the ends of rows' labels */
};

void text_sink_init(struct text_sink *text, struct strbuf *out, bool openmetrics, bool created);
/* Ends the page and frees what the sink has. 0 or -ENOMEM. */
int text_sink_finish(struct text_sink *text);

/*
 * Digits of @value with the point @decimals places from the right, without trailing zeros. At most
 * FORMAT_SCALED_MAX; @decimals at most FORMAT_DECIMALS_MAX.
 */
#define FORMAT_DECIMALS_MAX 9
#define FORMAT_SCALED_MAX   24
size_t format_scaled(char *buf, uint64_t value, unsigned decimals);
/* Realtime ms as seconds: negative times are 0. */
size_t format_created(char *buf, int64_t created_ms);
