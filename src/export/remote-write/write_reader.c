// SPDX-License-Identifier: Apache-2.0
/*
 * Metadata of 1.0 belong to families, not series: each family's are written with its first one. 1.0
 * repeats each label, so that its messages are four times as large: the bytes of a label are made
 * once and copied.
 */
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

#define SAMPLE_SIZE_MAX (2 + PROTOBUF_FIXED64_SIZE + 1 + PROTOBUF_VARINT_MAX)
#define SAMPLE_HEAD     (PROTOBUF_FIXED64_SIZE + 1) /* the value, and the tag of the time */
#define STEP            16                          /* bytes that are copied at once */

int write_reader_open(struct write_reader *reader, const char *message, size_t len)
{
	struct protobuf rest = { (const unsigned char *)message, len };
	struct protobuf_field field;
	int r;

	reader->rest = rest;
	reader->symbol_count = 0;
	reader->has_fields = false;
	reader->name = UINT32_MAX;
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
	free(reader->fields);
	strbuf_release(&reader->texts);
	*reader = (struct write_reader){ 0 };
}

/* The next reference; false: it is cut off, too long, or refers to nothing. */
static inline bool next_ref(const struct write_reader *reader, struct protobuf *packed,
			    uint32_t *ret)
{
	const unsigned char *end = packed->at + packed->len, *at = packed->at;
	uint64_t value = 0;
	unsigned shift = 0;

	do {
		if (at == end || shift > 28)
			return false;
		value |= (uint64_t)(*at & 0x7f) << shift;
		shift += 7;
	} while (*at++ & 0x80);
	packed->at = at;
	packed->len = (size_t)(end - at);
	*ret = (uint32_t)value;
	return value < reader->symbol_count;
}

static int read_labels(const struct write_reader *reader, struct write_reading *series)
{
	struct protobuf packed = series->labels;
	size_t count = 0;

	while (packed.len) {
		if (count == 2 * WRITE_LABELS_MAX ||
		    !next_ref(reader, &packed, &series->refs[count]))
			return -EPROTO;
		count++;
	}
	series->label_count = count / 2;
	return count % 2 || count == 0 ? -EPROTO : 1;
}

static int read_sample(struct write_reading *ret)
{
	struct protobuf sample = ret->sample;
	struct protobuf_field field;
	int r;

	ret->value_bits = 0;
	ret->time_ms = ret->start_ms = 0;
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

static int read_metadata(const struct write_reader *reader, struct write_reading *ret)
{
	struct protobuf metadata = ret->metadata;
	struct protobuf_field field;
	int r;

	ret->type = ret->help = ret->unit = 0;
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

static int read_series(struct protobuf series, struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	/* The references stay as they are: label_count says how many are valid. */
	ret->bytes = series;
	ret->labels = ret->sample = ret->metadata = (struct protobuf){ 0 };
	ret->label_count = 0;
	while ((r = protobuf_next(&series, &field)) > 0) {
		if (field.type != PROTOBUF_BYTES)
			return -EPROTO;
		if (field.number == WRITE2_LABELS)
			ret->labels = field.bytes;
		else if (field.number == WRITE2_SAMPLE)
			ret->sample = field.bytes;
		else if (field.number == WRITE2_METADATA)
			ret->metadata = field.bytes;
	}
	return r < 0 || ret->labels.len == 0 ? -EPROTO : 1;
}

/* As write_reader_next(), but neither labels, sample nor metadata are read. */
static int next_series(struct write_reader *reader, struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(&reader->rest, &field)) > 0) {
		if (field.number == WRITE2_SERIES && field.type == PROTOBUF_BYTES)
			return read_series(field.bytes, ret);
	}
	return r;
}

int write_reader_next(struct write_reader *reader, struct write_reading *ret)
{
	int r = next_series(reader, ret);

	if (r <= 0)
		return r;
	if (read_sample(ret) < 0 || read_metadata(reader, ret) < 0)
		return -EPROTO;
	return read_labels(reader, ret);
}

static void add_text(struct strbuf *out, char tag, const struct protobuf *text)
{
	protobuf_add_bytes(out, tag, (const char *)text->at, text->len);
}

static char *put_text(char *at, char tag, const struct protobuf *text)
{
	*at++ = tag;
	at = protobuf_put_varint(at, text->len);
	return protobuf_put_raw(at, (const char *)text->at, text->len);
}

static int make_fields(struct write_reader *reader)
{
	uint32_t count = reader->symbol_count;

	if (reader->has_fields)
		return 0;
	if (count > reader->field_size) {
		if (ARRAY_RESIZE(reader->fields, count) < 0)
			return -ENOMEM;
		reader->field_size = count;
	}
	memset(reader->fields, 0, count * sizeof(*reader->fields));
	reader->has_fields = true;
	strbuf_reset(&reader->texts);
	return 0;
}

/* Appends the field of a label. */
static int add_label(const struct write_reader *reader, uint32_t name, uint32_t value,
		     struct strbuf *out)
{
	const struct protobuf *one = &reader->symbols[name], *other = &reader->symbols[value];
	size_t len = protobuf_field_len(one->len) + protobuf_field_len(other->len);
	char *at;

	if (!strbuf_reserve(out, protobuf_field_len(len) + STEP))
		return -ENOMEM;
	at = out->data + out->len;
	*at++ = SERIES_LABEL;
	at = protobuf_put_varint(at, len);
	at = put_text(at, LABEL_NAME, one);
	at = put_text(at, LABEL_VALUE, other);
	out->len = (size_t)(at - out->data);
	return 0;
}

static int make_field(struct write_reader *reader, uint32_t name, uint32_t value)
{
	size_t at = reader->texts.len;
	int r = add_label(reader, name, value, &reader->texts);

	if (r == 0)
		reader->fields[value] =
			(struct write_label_field){ name, (uint32_t)at,
						    (uint32_t)(reader->texts.len - at) };
	return r;
}

/* Labels are short: a call of memcpy() would take longer. Writes up to STEP - 1 bytes more. */
static inline void copy_steps(char *at, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += STEP)
		memcpy(at + i, bytes + i, STEP);
}

static int add_labels(struct write_reader *reader, struct protobuf packed, struct strbuf *out)
{
	uint32_t name, value;

	for (size_t count = 0; packed.len; count++) {
		const struct write_label_field *field;

		if (count == WRITE_LABELS_MAX || !next_ref(reader, &packed, &name) ||
		    !next_ref(reader, &packed, &value))
			return -EPROTO;
		field = &reader->fields[value];
		if (!field->len && make_field(reader, name, value) < 0)
			return -ENOMEM;
		if (field->name != name) {
			if (add_label(reader, name, value, out) < 0)
				return -ENOMEM;
			continue;
		}
		if (out->len + field->len + STEP >= out->size &&
		    !strbuf_reserve(out, field->len + STEP))
			return -ENOMEM;
		copy_steps(out->data + out->len, reader->texts.data + field->at, field->len);
		out->len += field->len;
	}
	return 0;
}

/*
 * Value and time have the same bytes in both versions. A sample that begins with them, as all do
 * that write_batch.h makes, is copied up to there; else NULL.
 */
static inline char *copy_sample(char *at, const struct protobuf *sample)
{
	if (sample->len <= SAMPLE_HEAD || sample->at[0] != (unsigned char)SAMPLE_VALUE ||
	    sample->at[SAMPLE_HEAD - 1] != (unsigned char)SAMPLE_TIME)
		return NULL;
	memcpy(at, sample->at, SAMPLE_HEAD);
	at += SAMPLE_HEAD;
	for (size_t i = SAMPLE_HEAD; i < sample->len && i < SAMPLE_HEAD + PROTOBUF_VARINT_MAX;
	     i++) {
		*at++ = (char)sample->at[i];
		if (!(sample->at[i] & 0x80))
			return at;
	}
	return NULL;
}

static char *put_sample(char *at, struct write_reading *series)
{
	if (read_sample(series) < 0)
		return NULL;
	at = protobuf_put_fixed64(at, SAMPLE_VALUE, series->value_bits);
	*at++ = SAMPLE_TIME;
	return protobuf_put_varint(at, (uint64_t)series->time_ms);
}

static int add_sample(struct write_reading *series, struct strbuf *out)
{
	char *begin, *end;

	if (!strbuf_reserve(out, SAMPLE_SIZE_MAX))
		return -ENOMEM;
	begin = out->data + out->len;
	end = copy_sample(begin + 2, &series->sample);
	if (!end)
		end = put_sample(begin + 2, series);
	if (!end)
		return -EPROTO;
	begin[0] = SERIES_SAMPLE;
	begin[1] = (char)(end - begin - 2);
	*end = '\0';
	out->len = (size_t)(end - out->data);
	return 0;
}

static int add_series(struct write_reader *reader, struct write_reading *series, struct strbuf *out)
{
	size_t begin = protobuf_begin_field(out, WRITE1_SERIES);
	int r = add_labels(reader, series->labels, out);

	if (r == 0)
		r = add_sample(series, out);
	protobuf_end(out, begin);
	return r;
}

static bool is_text(const struct protobuf *text, const char *wanted)
{
	return text->len == strlen(wanted) && memcmp(text->at, wanted, text->len) == 0;
}

/* The label __name__, or NULL. */
static const struct protobuf *name_of(struct write_reader *reader,
				      const struct write_reading *series)
{
	struct protobuf packed = series->labels;
	uint32_t name, value;

	while (packed.len && next_ref(reader, &packed, &name) &&
	       next_ref(reader, &packed, &value)) {
		if (name != reader->name && !is_text(&reader->symbols[name], "__name__"))
			continue;
		reader->name = name;
		return &reader->symbols[value];
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

	if (make_fields(reader) < 0)
		return -ENOMEM;
	while (count < max_series && out->len < max_bytes &&
	       (r = next_series(reader, &series)) > 0) {
		name = name_of(reader, &series);
		if (!name)
			return -EPROTO;
		if (name != last && read_metadata(reader, &series) < 0)
			return -EPROTO;
		if (name != last && series.type)
			add_metadata(reader, &series, *name, out);
		last = name;
		r = add_series(reader, &series, out);
		if (r < 0)
			break;
		count++;
	}
	if (r < 0 || strbuf_error(out) < 0)
		return r < 0 ? r : -ENOMEM;
	return (int)count;
}
