/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot as lines, one for each series, with the same columns in both forms: docs/files.md.
 *
 *	JSON  {"time":"2026-11-29T09:41:14.123Z","name":"…","labels":{"zone":"package"},"value":1.5}
 *	CSV   2026-11-29T09:41:14.123Z,…,"{""zone"":""package""}",1.5
 *
 * A histogram has its count and its sum. Values are exact decimals; one that is not finite is null
 * in JSON, and empty in CSV.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "export/sink.h"

#define LINE_HEAD_CSV "time,name,labels,value\n"

struct line_sink {
	struct sink sink; /* first */
	struct strbuf *out;
	bool is_csv;
	const char *const *keep; /* globs of names, borrowed; [0] of them: all */
	size_t keep_count;
	const struct family *family;
	char name[FAMILY_NAME_MAX + 8]; /* with the suffix */
	bool is_kept;
	char time[32];
	uint64_t lines;
};

/* @time_ms: of the snapshot, realtime. */
void line_sink_init(struct line_sink *lines, bool is_csv, int64_t time_ms, struct strbuf *out);

/* The forms of labels of rows. */
void line_labels_json(struct strbuf *out, const struct labels *labels);
void line_labels_csv(struct strbuf *out, const struct labels *labels);
