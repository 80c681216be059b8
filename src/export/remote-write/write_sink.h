/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sink of remote write: series with their labels, values and starts, as batches. Symbols and
 * the references of a row's labels are kept for the next walk (write_rows.h), so that a walk over
 * the same rows looks up no text. Symbols that nothing refers to any more are removed, together
 * with all others, once they are a quarter of the table.
 */
#pragma once

#include <stdbool.h>

#include "export/remote-write/write_batch.h"
#include "export/remote-write/write_rows.h"
#include "export/sink.h"

#define WRITE_GLOBS_MAX     32
#define WRITE_EXTERNALS_MAX 16
#define WRITE_PARTS_MAX     16 /* messages of a walk whose symbols are kept; more share the last */

struct write_sink_options {
	char *const *keep, *const *drop; /* globs of names of families; keep_count 0: all */
	size_t keep_count, drop_count;
	const struct label_pair *externals; /* of each series that has no label of that name */
	size_t external_count;
};

/* A message and what is kept for the same message of the next walk. */
struct write_part {
	struct write_batch batch;
	struct write_rows rows;
	uint32_t symbols; /* of the first message since its symbols were made; 0: none yet */
};

struct write_sink {
	struct sink sink; /* first */
	const struct write_sink_options *options;
	struct write_part parts[WRITE_PARTS_MAX];
	struct write_part *part; /* the present one */
	int64_t time_ms;
	/* Called when a batch is full; the sink begins another one afterwards. 0 or -errno. */
	int (*full)(void *userdata, const struct write_batch *batch);
	void *userdata;
	const struct family *family;
	char name[FAMILY_NAME_MAX + 16];
	bool is_dropped;        /* the family */
	struct strbuf metadata; /* of the family, in this batch */
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
