/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One family after the other as text: HELP, TYPE, UNIT, then samples, as the two formats want them.
 *
 * A family's header is written with its first sample, so that a family without samples leaves no
 * trace. In OpenMetrics a counter's family has no _total, but its samples do, and each is followed
 * by its _created where these are wanted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "export/metric_table.h"
#include "export/prometheus.h"

#define FAMILY_NAME_MAX 96

struct exposition_writer {
	struct strbuf *out;
	enum exposition exposition;
	bool created; /* counters and histograms say when they began */
	const struct metric *metric;
	char family[FAMILY_NAME_MAX]; /* without _total, _info */
	bool headed;                  /* the header of this family is written */
	size_t labels_at;             /* where the labels of the sample begin in out */
	bool labelled;
};

/* @zone stands for <zone> in the metric's name. */
void family_begin(struct exposition_writer *w, const struct metric *metric, const char *zone);
/* Writes the header unless it is written; for those who write samples themselves. */
void family_head(struct exposition_writer *w);
/* What follows the family's name in its samples: "_total", "_info" or "". */
const char *family_suffix(const struct metric *metric);

/* sample_begin(), labels, then one of the ends. */
void sample_begin(struct exposition_writer *w);
void sample_label(struct exposition_writer *w, const char *name, const char *value);
/* Labels that are ready to print: 'a="x",b="y"'. */
void sample_labels(struct exposition_writer *w, const char *text, size_t len);
/*
 * @decimals shifts the point: µJ as joules are 6, ns as seconds 9. @created_ms is used for counters
 * where _created is wanted.
 */
void sample_end(struct exposition_writer *w, uint64_t value, unsigned decimals, int64_t created_ms);
void sample_end_double(struct exposition_writer *w, double value, int64_t created_ms);

/*
 * Digits of @value with the point @decimals places from the right, without trailing zeros. At most
 * FORMAT_SCALED_MAX.
 */
#define FORMAT_SCALED_MAX 24
size_t format_scaled(char *buf, uint64_t value, unsigned decimals);
/* Realtime ms as seconds: negative times are 0. */
size_t format_created(char *buf, int64_t created_ms);
