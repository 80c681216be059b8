/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a message as write_batch.h makes it, from a file that may be damaged, and writes it for
 * receivers that understand remote write 1.0 only. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/protobuf_read.h"
#include "base/strbuf.h"
#include "export/remote-write/snappy_writer.h"
#include "export/remote-write/write_batch.h"

/* A label as a field of 1.0. A text is mostly the value of labels of one name alone. */
struct write_label_field {
	uint32_t name;       /* a symbol */
	uint32_t next;       /* an index: the field with the same value and another name; 0: none */
	uint32_t at, len;    /* in the texts; len 0: not made yet */
	uint32_t last;       /* as the symbol of a name: an index, the last label of it; 0: none */
	uint64_t content_at; /* in the content of all blocks; before block_at: not in this one */
};

/* Bytes that a series mostly has in common with the one before. */
struct write_common {
	uint64_t bytes; /* [len], and then 0 */
	size_t len;
	uint64_t content_at;
};

struct write_reader {
	struct protobuf *symbols; /* [symbol_count], in the message */
	uint32_t symbol_count, symbol_size;
	/* For write_convert_to_1(): [symbol_count] by value, and then those with other names. */
	struct write_label_field *fields;
	uint32_t field_count, field_size; /* count 0: they are not of this message */
	struct strbuf texts;
	uint64_t block_at;              /* where the content of the block begins; never 0 */
	struct write_common head, time; /* of the last series */
	uint32_t name;                  /* the symbol __name__; UINT32_MAX: not known yet */
	struct protobuf rest;           /* series that are not read yet, and other fields */
};

struct write_reading {
	uint32_t refs[2 * WRITE_LABELS_MAX]; /* [label_count] names, each before its value */
	uint32_t fields[WRITE_LABELS_MAX];   /* [label_count], for write_convert_to_1() */
	size_t label_count;
	uint64_t value_bits;
	int64_t time_ms, start_ms;
	uint32_t type, help, unit; /* 0: none */
	struct protobuf bytes;     /* all of it */
	struct protobuf labels;    /* its references, not read */
	struct protobuf sample;    /* not read, as the rest */
	struct protobuf metadata;
};

/*
 * The message is borrowed. The reader is all zero at first, and may be used for one message after
 * the other. 0, -EPROTO or -ENOMEM; write_reader_release() is due at the end in any case.
 */
int write_reader_open(struct write_reader *reader, const char *message, size_t len);
void write_reader_release(struct write_reader *reader);
/* The next series, with references that exist. 1; 0 after the last; -EPROTO. */
int write_reader_next(struct write_reader *reader, struct write_reading *ret);

/*
 * Begins a block in @out with up to @max_series series, and at least one, as a message
 * prometheus.WriteRequest of at most about @max_bytes bytes, which is to be finished if there are
 * any. The number of series; 0 after the last; -EPROTO or -ENOMEM.
 */
int write_convert_to_1(struct write_reader *reader, uint32_t max_series, size_t max_bytes,
		       struct snappy_writer *out);
