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
#include <sys/param.h>

#include "base/array.h"
#include "base/macro.h"
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
#define NAMES_MAX       32 /* fields of a value: damaged files may have many more labels of it */
#define TEXTS_MAX       (4 * WRITE_MESSAGE_MAX)     /* the same of a long name, with many values */
#define SAME_MIN        8                           /* bytes: less is not worth a reference */
#define SAMPLE_TIME_AT  (2 + PROTOBUF_FIXED64_SIZE) /* in a sample's field */
#define FIELD_NONE      UINT32_MAX

int write_reader_open(struct write_reader *reader, const char *message, size_t len)
{
	struct protobuf rest = { (const unsigned char *)message, len };
	struct protobuf_field field;
	int r;

	reader->rest = rest;
	reader->symbol_count = 0;
	reader->field_count = 0;
	reader->block_at = 1;
	reader->head = reader->time = (struct write_common){ 0 };
	reader->name = UINT32_MAX;
	while ((r = protobuf_next(&rest, &field)) > 0) {
		if (field.number != WRITE2_SYMBOL || field.type != PROTOBUF_BYTES)
			continue;
		if (reader->symbol_count == WRITE_SYMBOLS_MAX || field.bytes.len > WRITE_SYMBOL_MAX)
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

/* Behind the next reference; NULL: it is cut off or too long. Mostly it has one or two bytes. */
static inline const unsigned char *next_ref(const unsigned char *at, const unsigned char *end,
					    uint32_t *ret)
{
	uint32_t value = *at & 0x7f;

	if (!(*at++ & 0x80)) {
		*ret = value;
		return at;
	}
	for (unsigned shift = 7; at < end && shift <= 21; shift += 7) {
		value |= (uint32_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80)) {
			*ret = value;
			return at;
		}
	}
	return NULL;
}

static int read_labels(const struct write_reader *reader, struct write_reading *series)
{
	const unsigned char *at = series->labels.at, *end = at + series->labels.len;
	uint32_t *refs = series->refs, *refs_end = refs + 2 * WRITE_LABELS_MAX;
	uint32_t highest = 0;

	while (at < end && refs < refs_end) {
		at = next_ref(at, end, refs);
		if (!at)
			return -EPROTO;
		highest = MAX(highest, *refs);
		refs++;
	}
	series->label_count = (size_t)(refs - series->refs) / 2;
	return at < end || highest >= reader->symbol_count || (refs - series->refs) % 2 ||
			       !series->label_count
		       ? -EPROTO
		       : 1;
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

/* A field of less than 128 bytes. */
static inline bool take_short(struct protobuf *message, unsigned number, struct protobuf *ret)
{
	if (message->len < 2 || message->at[0] != (number << 3 | PROTOBUF_BYTES) ||
	    message->at[1] >= 0x80 || message->at[1] > message->len - 2)
		return false;
	*ret = (struct protobuf){ message->at + 2, message->at[1] };
	message->at += 2 + ret->len;
	message->len -= 2 + ret->len;
	return true;
}

/* As write_batch_add() writes most of them: labels, a sample, metadata. */
static inline bool read_short_series(struct protobuf series, struct write_reading *ret)
{
	return take_short(&series, WRITE2_LABELS, &ret->labels) &&
	       take_short(&series, WRITE2_SAMPLE, &ret->sample) &&
	       take_short(&series, WRITE2_METADATA, &ret->metadata) && series.len == 0 &&
	       ret->labels.len;
}

static int read_series(struct protobuf series, struct write_reading *ret)
{
	struct protobuf_field field;
	int r;

	/* The references stay as they are: label_count says how many are valid. */
	ret->bytes = series;
	ret->label_count = 0;
	if (read_short_series(series, ret))
		return 1;
	ret->labels = ret->sample = ret->metadata = (struct protobuf){ 0 };
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
	struct protobuf series;
	int r;

	if (take_short(&reader->rest, WRITE2_SERIES, &series))
		return read_series(series, ret);
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

static int make_fields(struct write_reader *reader)
{
	uint32_t count = reader->symbol_count;

	if (reader->field_count)
		return 0;
	if (ARRAY_RESERVE(reader->fields, reader->field_size, count) < 0)
		return -ENOMEM;
	memset(reader->fields, 0, count * sizeof(*reader->fields));
	reader->field_count = count;
	strbuf_reset(&reader->texts);
	return 0;
}

/* The sum of their lengths, behind their tags. */
static size_t label_len(const struct write_reader *reader, uint32_t name, uint32_t value)
{
	return protobuf_field_len(reader->symbols[name].len) +
	       protobuf_field_len(reader->symbols[value].len);
}

/* Appends the field of a label to the texts, and returns where. */
static size_t write_label(struct write_reader *reader, uint32_t name, uint32_t value)
{
	size_t at = reader->texts.len;

	protobuf_add_varint(&reader->texts, SERIES_LABEL, label_len(reader, name, value));
	add_text(&reader->texts, LABEL_NAME, &reader->symbols[name]);
	add_text(&reader->texts, LABEL_VALUE, &reader->symbols[value]);
	return at;
}

static void make_field(struct write_reader *reader, uint32_t index, uint32_t name, uint32_t value)
{
	size_t at = write_label(reader, name, value);

	reader->fields[index] = (struct write_label_field){
		.name = name, .at = (uint32_t)at, .len = (uint32_t)(reader->texts.len - at)
	};
}

/* The field of a label that is not the first one of its value. As find_field(). */
static uint32_t find_other_field(struct write_reader *reader, uint32_t name, uint32_t value)
{
	uint32_t index = value;

	for (int steps = 0; reader->fields[index].len; steps++) {
		if (reader->fields[index].name == name)
			return index;
		if (steps == NAMES_MAX)
			return FIELD_NONE;
		if (!reader->fields[index].next) {
			if (ARRAY_RESERVE(reader->fields, reader->field_size,
					  reader->field_count + 1) < 0)
				return FIELD_NONE;
			reader->fields[reader->field_count].len = 0;
			reader->fields[index].next = reader->field_count++;
		}
		index = reader->fields[index].next;
	}
	if (reader->texts.len > TEXTS_MAX)
		return FIELD_NONE;
	make_field(reader, index, name, value);
	return index;
}

/* The field of a label, which may be made now. Its index; FIELD_NONE: it cannot be kept. */
static inline uint32_t find_field(struct write_reader *reader, uint32_t name, uint32_t value)
{
	const struct write_label_field *field = &reader->fields[value];

	return field->len && field->name == name ? value : find_other_field(reader, name, value);
}

/* Reads the labels, and finds their fields. *ret_sum: of the fields' lengths. 0 or -EPROTO. */
static int read_fields(struct write_reader *reader, struct write_reading *series, size_t *ret_sum)
{
	const unsigned char *at = series->labels.at, *end = at + series->labels.len;
	uint32_t count = reader->symbol_count;
	size_t labels = 0, sum = 0;

	for (; at < end; labels++) {
		uint32_t name, value, index;

		at = next_ref(at, end, &name);
		if (!at || at == end || labels == WRITE_LABELS_MAX)
			return -EPROTO;
		at = next_ref(at, end, &value);
		if (!at || name >= count || value >= count)
			return -EPROTO;
		index = find_field(reader, name, value);
		series->refs[2 * labels] = name;
		series->refs[2 * labels + 1] = value;
		series->fields[labels] = index;
		sum += index == FIELD_NONE ? protobuf_field_len(label_len(reader, name, value))
					   : reader->fields[index].len;
	}
	series->label_count = labels;
	*ret_sum = sum;
	return labels ? 0 : -EPROTO;
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

/* The field of a sample. Its end, or NULL. */
static char *make_sample(char *at, struct write_reading *series)
{
	char *end = copy_sample(at + 2, &series->sample);

	if (!end)
		end = put_sample(at + 2, series);
	if (!end)
		return NULL;
	at[0] = SERIES_SAMPLE;
	at[1] = (char)(end - at - 2);
	return end;
}

static bool is_in_block(const struct write_reader *reader, uint64_t content_at)
{
	return content_at >= reader->block_at;
}

/* The number of bytes with which both begin, at most @len. */
static size_t common_prefix(const char *a, const char *b, size_t len)
{
	size_t same = 0;

	while (same + 8 <= len && memcmp(a + same, b + same, 8) == 0)
		same += 8;
	while (same < len && a[same] == b[same])
		same++;
	return same;
}

/* A label that the block does not have mostly begins like the last one of its name. */
static void add_new_label(struct write_reader *reader, uint32_t index, struct snappy_writer *out)
{
	struct write_label_field *field = &reader->fields[index];
	struct write_label_field *name = &reader->fields[field->name];
	const struct write_label_field *last = &reader->fields[name->last];
	const char *bytes = reader->texts.data + field->at;
	size_t same = 0;

	if (is_in_block(reader, last->content_at) && last->name == field->name)
		same = common_prefix(bytes, reader->texts.data + last->at,
				     MIN(field->len, last->len));
	if (same >= SAME_MIN)
		snappy_writer_repeat(out, last->content_at - reader->block_at, same);
	else
		same = 0;
	snappy_writer_add(out, bytes + same, field->len - same);
	name->last = index;
}

static void add_label(struct write_reader *reader, const struct write_reading *series, size_t i,
		      struct snappy_writer *out)
{
	size_t content_at = out->content_len, at;
	struct write_label_field *field;

	if (series->fields[i] == FIELD_NONE) {
		at = write_label(reader, series->refs[2 * i], series->refs[2 * i + 1]);
		snappy_writer_add(out, reader->texts.data + at, reader->texts.len - at);
		reader->texts.len = at;
		return;
	}
	field = &reader->fields[series->fields[i]];
	if (is_in_block(reader, field->content_at))
		snappy_writer_repeat(out, field->content_at - reader->block_at, field->len);
	else
		add_new_label(reader, series->fields[i], out);
	field->content_at = reader->block_at + content_at;
}

/* @bytes are at least eight, with 0 behind @len. */
static void add_common(const struct write_reader *reader, struct write_common *common,
		       const char *bytes, size_t len, struct snappy_writer *out)
{
	struct write_common now = { .len = len, .content_at = reader->block_at + out->content_len };

	memcpy(&now.bytes, bytes, sizeof(now.bytes));
	if (now.bytes == common->bytes && len == common->len && len <= sizeof(now.bytes) &&
	    is_in_block(reader, common->content_at))
		snappy_writer_repeat(out, common->content_at - reader->block_at, len);
	else
		snappy_writer_add(out, bytes, len);
	*common = now;
}

/* @labels_len: of the labels' fields. */
static int add_series(struct write_reader *reader, struct write_reading *series, size_t labels_len,
		      struct snappy_writer *out)
{
	char sample[SAMPLE_SIZE_MAX] = { 0 }, head[8] = { WRITE1_SERIES };
	const char *sample_end = make_sample(sample, series), *head_end;
	const char *time = sample + SAMPLE_TIME_AT;

	if (!sample_end)
		return -EPROTO;
	head_end = protobuf_put_varint(head + 1, labels_len + (size_t)(sample_end - sample));
	add_common(reader, &reader->head, head, (size_t)(head_end - head), out);
	for (size_t i = 0; i < series->label_count; i++)
		add_label(reader, series, i, out);
	snappy_writer_add(out, sample, SAMPLE_TIME_AT);
	add_common(reader, &reader->time, time, (size_t)(sample_end - time), out);
	return strbuf_error(&reader->texts);
}

static bool is_text(const struct protobuf *text, const char *wanted)
{
	return text->len == strlen(wanted) && memcmp(text->at, wanted, text->len) == 0;
}

/* The label __name__, or NULL. */
static const struct protobuf *name_of(struct write_reader *reader,
				      const struct write_reading *series)
{
	for (size_t i = 0; i < series->label_count; i++) {
		uint32_t name = series->refs[2 * i];

		if (name != reader->name && !is_text(&reader->symbols[name], "__name__"))
			continue;
		reader->name = name;
		return &reader->symbols[series->refs[2 * i + 1]];
	}
	return NULL;
}

static int add_metadata(const struct write_reader *reader, const struct write_reading *series,
			struct protobuf name, struct snappy_writer *out)
{
	static const char count[] = "_count";
	const size_t len = sizeof(count) - 1;
	CLEANUP(strbuf_release) struct strbuf field = STRBUF_INIT;
	size_t begin;

	if (series->type == WRITE_TYPE_HISTOGRAM) {
		if (name.len <= len || memcmp(name.at + name.len - len, count, len) != 0)
			return 0;
		name.len -= len;
	}
	begin = protobuf_begin_field(&field, WRITE1_METADATA);
	protobuf_add_varint(&field, METADATA_TYPE, series->type);
	add_text(&field, METADATA_NAME, &name);
	add_text(&field, METADATA_HELP, &reader->symbols[series->help]);
	add_text(&field, METADATA_UNIT, &reader->symbols[series->unit]);
	protobuf_end(&field, begin);
	if (strbuf_error(&field) == 0)
		snappy_writer_add(out, field.data, field.len);
	return strbuf_error(&field);
}

/* The series, and the metadata of a family that begins. 1, 0 after the last, or -errno. */
static int convert_next(struct write_reader *reader, const struct protobuf **last,
			struct snappy_writer *out)
{
	const struct protobuf *name;
	struct write_reading series;
	size_t labels_len;
	int r = next_series(reader, &series);

	if (r <= 0)
		return r;
	if (read_fields(reader, &series, &labels_len) < 0)
		return -EPROTO;
	if (strbuf_error(&reader->texts) < 0)
		return -ENOMEM;
	name = name_of(reader, &series);
	if (!name || (name != *last && read_metadata(reader, &series) < 0))
		return -EPROTO;
	if (name != *last && series.type)
		r = add_metadata(reader, &series, *name, out);
	*last = name;
	if (r >= 0)
		r = add_series(reader, &series, labels_len, out);
	return r < 0 ? r : 1;
}

int write_convert_to_1(struct write_reader *reader, uint32_t max_series, size_t max_bytes,
		       struct snappy_writer *out)
{
	const struct protobuf *last = NULL;
	uint32_t count = 0;
	int r = 0;

	if (make_fields(reader) < 0)
		return -ENOMEM;
	snappy_writer_reset(out);
	while (count < max_series && out->content_len < max_bytes &&
	       (r = convert_next(reader, &last, out)) > 0)
		count++;
	reader->block_at += out->content_len + 1;
	return r < 0 ? r : (int)count;
}
