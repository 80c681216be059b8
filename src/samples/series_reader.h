/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of Prometheus from JSON in parts of any size: the answer of its query_range, or a file of
 * them by metric, as the model server's "query" writes it. In either a series is an object
 * {"metric": {labels}, "values": [[seconds, "value"], …]}, wherever it lies. One series' labels are
 * all that is held.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "samples/json_stream.h"

#define SERIES_LABELS_MAX 128
#define SERIES_TEXT_MAX   65536 /* bytes of all labels of a series */

struct series_labels {
	const char *name[SERIES_LABELS_MAX], *value[SERIES_LABELS_MAX];
	size_t count;
};

struct series_point {
	int64_t time_us;  /* since 1970 */
	double value;     /* NAN where it is no number, or infinite */
	const char *text; /* as it came */
};

/* The value of the label @name, "" where there is none, as Prometheus has it. */
const char *series_label(const struct series_labels *labels, const char *name);

/* A result other than 0 ends the reading with it; what it was is the callee's to know. */
struct series_sink {
	int (*series)(void *userdata, const struct series_labels *labels);
	int (*point)(void *userdata, const struct series_point *point);
	void *userdata;
};

struct series_reader {
	struct series_sink sink;
	/* ---- to be read ---- */
	uint64_t series, points;
	char error[256]; /* of an answer that says what is wrong: "error" */
	bool is_success; /* "status" is "success" */
	/* ---- its own ---- */
	struct json_stream json;
	struct strbuf text; /* names and values of labels, terminated */
	size_t offsets[2 * SERIES_LABELS_MAX];
	size_t label_count;
	unsigned depth, series_depth; /* of brackets; of the series' object, 0 none */
	int place;
	unsigned parts; /* of a point that were read */
	int64_t time_us;
	char key[64];
	struct diag *diag;
};

void series_reader_init(struct series_reader *reader, const struct series_sink *sink);
void series_reader_release(struct series_reader *reader);
/* As json_stream_feed(); also -EPROTO where a series or a point is malformed. */
int series_reader_feed(struct series_reader *reader, const char *bytes, size_t len,
		       struct diag *diag);
int series_reader_end(struct series_reader *reader, struct diag *diag);
/*
 * All of a file: 0, or -errno with FILE: what is wrong. -EBADMSG where the sink has ended it, which
 * keeps its own reason.
 */
int series_read_file(const char *path, const struct series_sink *sink, struct diag *diag);
