/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of remote write: series with their labels, values and starts, as batches. A row's labels
 * become references to symbols once for each batch, not once for each family.
 */
#pragma once

#include <stdbool.h>

#include "export/remote-write/write_batch.h"
#include "export/sink.h"

#define WRITE_GLOBS_MAX     32
#define WRITE_EXTERNALS_MAX 16
#define WRITE_VIEWS_MAX     (LEVEL_COUNT * 2 * NAMES_COUNT) /* of rows, by level, life and names */

struct write_sink_options {
	char *const *keep, *const *drop; /* globs of names of families; keep_count 0: all */
	size_t keep_count, drop_count;
	const struct label_pair *externals; /* of each series that has no label of that name */
	size_t external_count;
};

/* The references of the rows of one view. */
struct write_view {
	const struct row_text *texts; /* its identity */
	struct write_label *labels;
	uint64_t *hashes;
	uint32_t *begins, *counts; /* [rows]; a count of UINT32_MAX: not made yet */
	uint32_t label_count, label_size, row_size;
};

struct write_sink {
	struct sink sink; /* first */
	const struct write_sink_options *options;
	struct write_batch batch;
	int64_t time_ms;
	/* Called when the batch is full; the sink empties it afterwards. 0 or -errno. */
	int (*full)(void *userdata, const struct write_batch *batch);
	void *userdata;
	const struct family *family;
	char name[FAMILY_NAME_MAX + 16];
	bool is_dropped;        /* the family */
	struct strbuf metadata; /* of the family, in this batch */
	struct write_view views[WRITE_VIEWS_MAX];
	size_t view_count;
	struct strbuf scratch;
	int error; /* 0 or -errno */
};

/* All zero at first; write_sink_release() is due. */
void write_sink_init(struct write_sink *sink, const struct write_sink_options *options);
void write_sink_release(struct write_sink *sink);
/* Before each walk. */
void write_sink_begin(struct write_sink *sink, int64_t time_ms);
/* After it: hands over the last batch. 0 or -errno. */
int write_sink_finish(struct write_sink *sink);
/* Appends a label's name and value, each terminated: the label_form of this format. */
void write_form(struct strbuf *out, const struct labels *labels);
/* Hands over the batch and empties it, if it is full. */
void write_sink_make_room(struct write_sink *sink);
/* Does @name pass the globs? */
bool write_family_is_kept(const struct write_sink_options *options, const char *name);
