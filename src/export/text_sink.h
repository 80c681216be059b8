/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One family after the other as text: its head, then samples, as Prometheus' text format and
 * OpenMetrics (prometheus.io/docs/specs/om, 1.0 and 2.0.0-rc0) require.
 *
 * A family's head is written with its first sample, so that a family without samples leaves no
 * trace. The formats differ:
 *
 * - OpenMetrics 1.0: a counter's family has no _total, but its samples do, and each is followed by
 *   its _created where these are requested; the same goes for info and histograms.
 * - OpenMetrics 2.0: a family has the name of its samples. A counter's start time is in its line,
 *   behind the value: "x_total 1 st@1520430000.123". A histogram is one line, its value in braces:
 *   "x {count:2,sum:1.5,bucket:[0.1:1,+Inf:2]} st@1520430000.123".
 */
#pragma once

#include "base/strbuf.h"
#include "export/sink.h"

enum text_dialect { TEXT_PROMETHEUS, TEXT_OPENMETRICS_1, TEXT_OPENMETRICS_2 };

struct text_sink {
	struct sink sink; /* first */
	struct strbuf *out;
	enum text_dialect dialect;
	bool created; /* counters and histograms have a _created line: OpenMetrics 1.0 */
	const struct family *family;
	char name[FAMILY_NAME_MAX]; /* without _total, _info */
	bool headed;                /* the head of this family is written */
	struct strbuf scratch;      /* the ends of rows' labels */
};

/* @created: for OpenMetrics 1.0; the others ignore it. */
void text_sink_init(struct text_sink *text, struct strbuf *out, enum text_dialect dialect,
		    bool created);
/* Appends labels as a="x",b="y": the label_form of text. */
void text_labels(struct strbuf *out, const struct labels *labels);
/* Ends the page and frees the sink's memory. 0 or -ENOMEM. */
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
