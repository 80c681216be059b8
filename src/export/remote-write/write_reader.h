/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a message as write_batch.h makes it, from a file that may be damaged, and writes it for
 * receivers that understand remote write 1.0 only. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/protobuf_read.h"
#include "base/strbuf.h"
#include "export/remote-write/write_batch.h"

/* A label as a field of 1.0. A text is mostly the value of labels of one name alone. */
struct write_label_field {
	uint32_t name;    /* a symbol */
	uint32_t at, len; /* in the texts; len 0: not made yet */
};

struct write_reader {
	struct protobuf *symbols; /* [symbol_count], in the message */
	uint32_t symbol_count, symbol_size;
	/* For write_convert_to_1(), of this message: [symbol_count], by value. */
	struct write_label_field *fields;
	uint32_t field_size;
	bool has_fields;
	uint32_t name; /* the symbol __name__; UINT32_MAX: not known yet */
	struct strbuf texts;
	struct protobuf rest; /* series that are not read yet, and other fields */
};

struct write_reading {
	uint32_t refs[2 * WRITE_LABELS_MAX]; /* [label_count] names, each before its value */
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
 * Appends up to @max_series series, and at least one, as a message prometheus.WriteRequest of at
 * most about @max_bytes bytes. The number of series; 0 after the last; -EPROTO or -ENOMEM.
 */
int write_convert_to_1(struct write_reader *reader, uint32_t max_series, size_t max_bytes,
		       struct strbuf *out);
