/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message io.prometheus.write.v2.Request that grows by series: symbols, each text once, and
 * series that refer to them. It is also the form in which series wait in the queue, whatever the
 * receiver understands (write_reader.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"

#define WRITE_LABELS_MAX       64 /* of a series */
#define WRITE_SERIES_MAX       20000
#define WRITE_SYMBOLS_MAX      60000
#define WRITE_SYMBOL_MAX       UINT16_MAX                         /* bytes of one */
#define WRITE_LABELS_FIELD_MAX (1 + 5 + WRITE_LABELS_MAX * 2 * 5) /* bytes */
#define WRITE_MESSAGE_MAX      (4 * 1024 * 1024)
#define WRITE_MESSAGE_FULL     (2 * 1024 * 1024) /* no further series */

/* Request; TimeSeries; Sample; Metadata. */
#define WRITE2_SYMBOL   4
#define WRITE2_SERIES   5
#define WRITE2_LABELS   1
#define WRITE2_SAMPLE   2
#define WRITE2_METADATA 5
#define WRITE2_VALUE    1
#define WRITE2_TIME     2
#define WRITE2_START    3
#define WRITE2_TYPE     1
#define WRITE2_HELP     3
#define WRITE2_UNIT     4

/* "This series ends": a NaN of its own. */
#define WRITE_STALE_BITS 0x7ff0000000000002ULL

enum write_type {
	WRITE_TYPE_UNKNOWN,
	WRITE_TYPE_COUNTER = 1,
	WRITE_TYPE_GAUGE = 2,
	WRITE_TYPE_HISTOGRAM = 3,
	WRITE_TYPE_INFO = 6,
};

struct write_symbol {
	uint32_t at, len; /* in the texts */
	uint64_t hash;
};

struct write_batch {
	struct strbuf symbol_fields, series, texts;
	struct write_symbol *symbols;
	uint32_t symbol_count, symbol_size;
	uint64_t *hashes; /* of its series' labels, in their order; 0: the series has ended */
	uint32_t series_count, hash_size;
	struct map map; /* of symbols, by hash */
	int error;      /* 0 or -ENOMEM, -ENOSPC */
};

/* A label as references to symbols; @order sorts by the beginning of the name. */
struct write_label {
	uint64_t order;
	uint32_t name, value;
};

struct write_labels {
	struct write_label labels[WRITE_LABELS_MAX]; /* [count], sorted by name, each name once */
	size_t count;
	uint64_t hash; /* the sum of write_label_hash() */
};

struct write_series {
	const char *labels; /* [labels_len]: the field, by write_labels_encode() */
	size_t labels_len;
	uint64_t hash; /* of the labels; 0: the series ends, and is no more */
	uint64_t value_bits;
	int64_t time_ms, start_ms; /* start 0: not known */
	const char *metadata;      /* [metadata_len]: a field, or nothing */
	size_t metadata_len;
};

void write_batch_init(struct write_batch *batch);
void write_batch_release(struct write_batch *batch);
/* Empties it, keeps the memory. */
void write_batch_reset(struct write_batch *batch);
/* Removes the series only: references stay valid, and symbols may be in it that none refers to. */
void write_batch_next(struct write_batch *batch);
/* The reference of @text. Sets the error if there is no room. */
uint32_t write_batch_symbol(struct write_batch *batch, const char *text, size_t len);
/* A label's part of its series' hash. Labels may be added in any order. */
uint64_t write_label_hash(const struct write_batch *batch, uint32_t name, uint32_t value);
/* Enters a label into a sorted list; one with the same name stays. Too many: the error is set. */
void write_labels_add(struct write_batch *batch, struct write_labels *labels, const char *name,
		      const char *value, size_t value_len);
/* The order of two names. */
int write_label_compare(const struct write_batch *batch, const struct write_label *a,
			const struct write_label *b);
/* The field with the references of sorted labels. Returns its length. */
size_t write_labels_encode(const struct write_label *labels, size_t count,
			   char ret[WRITE_LABELS_FIELD_MAX]);
void write_batch_add(struct write_batch *batch, const struct write_series *series);
/* Appends a Metadata field. */
void write_metadata(struct strbuf *out, enum write_type type, uint32_t help, uint32_t unit);
size_t write_batch_size(const struct write_batch *batch);
/* Appends the message. 0, or the batch's error. */
int write_batch_finish(const struct write_batch *batch, struct strbuf *out);
