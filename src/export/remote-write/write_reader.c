// SPDX-License-Identifier: Apache-2.0
/* Metadata of 1.0 belong to families, not series: each family's are written with its first one. */
#include "export/remote-write/write_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/protobuf_writer.h"

/* WriteRequest; TimeSeries; Label; Sample; MetricMetadata. */
#define WRITE1_SERIES   PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define WRITE1_METADATA PROTOBUF_TAG(3, PROTOBUF_BYTES)
#define SERIES_LABEL    PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SERIES_SAMPLE   PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define LABEL_NAME      PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define LABEL_VALUE     PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define SAMPLE_VALUE    PROTOBUF_TAG(1, PROTOBUF_FIXED64)
#define SAMPLE_TIME     PROTOBUF_TAG(2, PROTOBUF_VARINT)
#define METADATA_TYPE   PROTOBUF_TAG(1, PROTOBUF_VARINT)
#define METADATA_NAME   PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define METADATA_HELP   PROTOBUF_TAG(4, PROTOBUF_BYTES)
#define METADATA_UNIT   PROTOBUF_TAG(5, PROTOBUF_BYTES)

int write_reader_open(struct write_reader *reader, const char *message, size_t len)
{
	struct protobuf rest = { (const unsigned char *)message, len };
	struct protobuf_field field;
	int r;

	*reader = (struct write_reader){ .rest = rest };
	while ((r = protobuf_next(&rest, &field)) > 0) {
		if (field.number != WRITE2_SYMBOL || field.type != PROTOBUF_BYTES)
			continue;
		if (reader->symbol_count == WRITE_SYMBOLS_MAX)
			return -EPROTO;
		if (ARRAY_RESERVE(reader->symbols, reader->symbol_size, reader->symbol_count + 1) <
		    0)
			return -ENOMEM;
		reader->symbols[reader->symbol_count++] = field.bytes;
	}
	return r < 0 ? r : reader->symbol_count ? 0 : -EPROTO;
}

void write_reader_release(struct write_reader *reader)
{
	free(reader->symbols);
	*reader = (struct write_reader){ 0 };
}

static int read_labels(const struct write_reader *reader, struct protobuf packed,
		       struct write_reading *ret)
{
	size_t count = 0;

	while (packed.len) {
		uint64_t value = 0;
		unsigned shift = 0;
		unsigned char byte;

		do {
			if (!packed.len || shift > 28)
				return -EPROTO;
			byte = *packed.at++;
			packed.len--;
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80);
		if (value >= reader->symbol_count || count == 2 * WRITE_LABELS_MAX)
			return -EPROTO;
		ret->refs[count++] = (uint32_t)value;
	}
	ret->label_count = count / 2;
	return count % 2 || count == 0 ? -EPROTO : 0;
}

static int read_sample(struct protobuf sample, struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&sample, &field)) > 0) {
		if (field.number == WRITE2_VALUE)
			ret->value_bits = field.value;
		else if (field.number == WRITE2_TIME)
			ret->time_ms = (int64_t)field.value;
		else if (field.number == WRITE2_START)
			ret->start_ms = (int64_t)field.value;
	}
	return r;
}

static int read_metadata(const struct write_reader *reader, struct protobuf metadata,
			 struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&metadata, &field)) > 0) {
		if (field.number == WRITE2_TYPE)
			ret->type = (uint32_t)field.value;
		else if (field.value >= reader->symbol_count)
			return -EPROTO;
		else if (field.number == WRITE2_HELP)
			ret->help = (uint32_t)field.value;
		else if (field.number == WRITE2_UNIT)
			ret->unit = (uint32_t)field.value;
	}
	return r;
}

static int read_series(const struct write_reader *reader, struct protobuf series,
		       struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	*ret = (struct write_reading){ .bytes = series };
	while ((r = protobuf_next(&series, &field)) > 0) {
		if (field.type != PROTOBUF_BYTES)
			return -EPROTO;
		if (field.number == WRITE2_LABELS)
			r = read_labels(reader, field.bytes, ret);
		else if (field.number == WRITE2_SAMPLE)
			r = read_sample(field.bytes, ret);
		else if (field.number == WRITE2_METADATA)
			r = read_metadata(reader, field.bytes, ret);
		if (r < 0)
			return r;
	}
	return r < 0 || ret->label_count == 0 ? -EPROTO : 1;
}

int write_reader_next(struct write_reader *reader, struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&reader->rest, &field)) > 0) {
		if (field.number == WRITE2_SERIES && field.type == PROTOBUF_BYTES)
			return read_series(reader, field.bytes, ret);
	}
	return r;
}

static void add_text(struct strbuf *out, char tag, const struct protobuf *text)
{
	protobuf_add_bytes(out, tag, (const char *)text->at, text->len);
}

static void add_series(const struct write_reader *reader, const struct write_reading *series,
		       struct strbuf *out)
{
	size_t begin = protobuf_begin_field(out, WRITE1_SERIES), inner;

	for (size_t i = 0; i < series->label_count; i++) {
		inner = protobuf_begin_field(out, SERIES_LABEL);
		add_text(out, LABEL_NAME, &reader->symbols[series->refs[2 * i]]);
		add_text(out, LABEL_VALUE, &reader->symbols[series->refs[2 * i + 1]]);
		protobuf_end(out, inner);
	}
	inner = protobuf_begin_field(out, SERIES_SAMPLE);
	protobuf_add_fixed64(out, SAMPLE_VALUE, series->value_bits);
	protobuf_add_varint(out, SAMPLE_TIME, (uint64_t)series->time_ms);
	protobuf_end(out, inner);
	protobuf_end(out, begin);
}

static bool is_text(const struct protobuf *text, const char *wanted)
{
	return text->len == strlen(wanted) && memcmp(text->at, wanted, text->len) == 0;
}

/* The label __name__, or NULL. */
static const struct protobuf *name_of(const struct write_reader *reader,
				      const struct write_reading *series)
{
	for (size_t i = 0; i < series->label_count; i++) {
		if (is_text(&reader->symbols[series->refs[2 * i]], "__name__"))
			return &reader->symbols[series->refs[2 * i + 1]];
	}
	return NULL;
}

static void add_metadata(const struct write_reader *reader, const struct write_reading *series,
			 struct protobuf name, struct strbuf *out)
{
	static const char count[] = "_count";
	const size_t len = sizeof(count) - 1;
	size_t begin;

	if (series->type == WRITE_TYPE_HISTOGRAM) {
		if (name.len <= len || memcmp(name.at + name.len - len, count, len) != 0)
			return;
		name.len -= len;
	}
	begin = protobuf_begin_field(out, WRITE1_METADATA);
	protobuf_add_varint(out, METADATA_TYPE, series->type);
	add_text(out, METADATA_NAME, &name);
	add_text(out, METADATA_HELP, &reader->symbols[series->help]);
	add_text(out, METADATA_UNIT, &reader->symbols[series->unit]);
	protobuf_end(out, begin);
}

int write_convert_to_1(struct write_reader *reader, uint32_t max_series, size_t max_bytes,
		       struct strbuf *out)
{
	const struct protobuf *last = NULL, *name;
	struct write_reading series;
	uint32_t count = 0;
	int r = 0;

	while (count < max_series && out->len < max_bytes &&
	       (r = write_reader_next(reader, &series)) > 0) {
		name = name_of(reader, &series);
		if (!name)
			return -EPROTO;
		if (name != last && series.type)
			add_metadata(reader, &series, *name, out);
		last = name;
		add_series(reader, &series, out);
		count++;
	}
	if (r < 0 || strbuf_error(out) < 0)
		return r < 0 ? r : -ENOMEM;
	return (int)count;
}
