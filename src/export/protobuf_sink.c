// SPDX-License-Identifier: Apache-2.0
/*
 * The fields are those of client_model's metrics.proto (proto2). Only a small part of the encoding
 * is needed, so it is implemented here: docs/design/publication.md gives the reasons.
 */
#include "export/protobuf_sink.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "export/label_escape.h"
#include "export/text_sink.h"

enum wire { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2 };
#define TAG(field, wire) (char)((field) << 3 | (wire))

/* MetricFamily; LabelPair; Metric; Counter, Gauge, Histogram; Bucket; Timestamp. */
#define FAMILY_NAME       TAG(1, WIRE_BYTES)
#define FAMILY_HELP       TAG(2, WIRE_BYTES)
#define FAMILY_TYPE       TAG(3, WIRE_VARINT)
#define FAMILY_METRIC     TAG(4, WIRE_BYTES)
#define FAMILY_UNIT       TAG(5, WIRE_BYTES)
#define PAIR_NAME         TAG(1, WIRE_BYTES)
#define PAIR_VALUE        TAG(2, WIRE_BYTES)
#define METRIC_LABEL      TAG(1, WIRE_BYTES)
#define METRIC_GAUGE      TAG(2, WIRE_BYTES)
#define METRIC_COUNTER    TAG(3, WIRE_BYTES)
#define METRIC_HISTOGRAM  TAG(7, WIRE_BYTES)
#define VALUE_VALUE       TAG(1, WIRE_DOUBLE)
#define COUNTER_CREATED   TAG(3, WIRE_BYTES)
#define HISTOGRAM_COUNT   TAG(1, WIRE_VARINT)
#define HISTOGRAM_SUM     TAG(2, WIRE_DOUBLE)
#define HISTOGRAM_BUCKET  TAG(3, WIRE_BYTES)
#define HISTOGRAM_CREATED TAG(15, WIRE_BYTES)
#define BUCKET_COUNT      TAG(1, WIRE_VARINT)
#define BUCKET_BOUND      TAG(2, WIRE_DOUBLE)
#define TIMESTAMP_SECONDS TAG(1, WIRE_VARINT)
#define TIMESTAMP_NANOS   TAG(2, WIRE_VARINT)

#define TYPE_COUNTER      0
#define TYPE_GAUGE        1
#define TYPE_HISTOGRAM    4

#define VARINT_MAX        10
/*
 * A family's length is known when its last row is written: five bytes are reserved for it. Its
 * upper bytes may be 0 with the continuation bit set; every varint decoder accepts that.
 */
#define LENGTH_SIZE 5
#define CREATED_MAX (2 + 2 * (1 + VARINT_MAX)) /* tag, length, two fields */
#define NUMBER_MAX  (2 + 9 + CREATED_MAX)      /* a Counter or Gauge with its tag */

static char *put_varint(char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (char)(value | 0x80);
	*at++ = (char)value;
	return at;
}

static char *put_double(char *at, char tag, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*at++ = tag;
	for (int i = 0; i < 8; i++)
		*at++ = (char)(bits >> 8 * i);
	return at;
}

static char *put_bytes(char *at, const char *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static size_t varint_len(uint64_t value)
{
	size_t len = 1;

	for (; value >= 0x80; value >>= 7)
		len++;
	return len;
}

static void add_varint(struct strbuf *out, char tag, uint64_t value)
{
	char bytes[1 + VARINT_MAX] = { tag };

	strbuf_add(out, bytes, (size_t)(put_varint(bytes + 1, value) - bytes));
}

static void add_double(struct strbuf *out, char tag, double value)
{
	char bytes[9];

	strbuf_add(out, bytes, (size_t)(put_double(bytes, tag, value) - bytes));
}

static void add_bytes(struct strbuf *out, char tag, const char *bytes, size_t len)
{
	add_varint(out, tag, len);
	strbuf_add(out, bytes, len);
}

static char *put_created(char *at, char tag, int64_t created_ms)
{
	uint64_t ms = created_ms > 0 ? (uint64_t)created_ms : 0;
	char *len;

	*at++ = tag;
	len = at++;
	*at++ = TIMESTAMP_SECONDS;
	at = put_varint(at, ms / 1000);
	*at++ = TIMESTAMP_NANOS;
	at = put_varint(at, ms % 1000 * 1000000);
	*len = (char)(at - len - 1);
	return at;
}

/* A Counter or Gauge. At most NUMBER_MAX bytes. */
static char *put_number(char *at, bool counter, double value, int64_t created_ms)
{
	char *len;

	*at++ = counter ? METRIC_COUNTER : METRIC_GAUGE;
	len = at++;
	at = put_double(at, VALUE_VALUE, value);
	if (counter)
		at = put_created(at, COUNTER_CREATED, created_ms);
	*len = (char)(at - len - 1);
	return at;
}

/*
 * The nearest double, as a reader of the text gets it. Above 2^53, which a counter of nanoseconds
 * reaches in 104 days of one CPU, a division would round twice.
 */
static double scaled(uint64_t value, unsigned decimals)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	char text[FORMAT_SCALED_MAX + 1];
	double nearest = (double)value / powers[decimals];

	if (value >> DBL_MANT_DIG) {
		text[format_scaled(text, value, decimals)] = '\0';
		(void)parse_double(text, &nearest); /* it is a number */
	}
	return nearest;
}

static size_t field_len(size_t len)
{
	return 1 + varint_len(len) + len;
}

/* Values are cleaned as in text, so that both formats show the same labels. */
void protobuf_labels(struct strbuf *out, const struct labels *labels)
{
	CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT;

	for (size_t i = 0; i < labels->count; i++) {
		const char *name = labels->labels[i].name;
		size_t name_len = strlen(name);

		strbuf_reset(&value);
		label_clean_value(&value, &labels->labels[i], false);
		if (strbuf_error(&value) < 0)
			out->failed = true;
		add_varint(out, METRIC_LABEL, field_len(name_len) + field_len(value.len));
		add_bytes(out, PAIR_NAME, name, name_len);
		add_bytes(out, PAIR_VALUE, value.data, value.len);
	}
}

static void end_family(struct protobuf_sink *protobuf)
{
	size_t len = protobuf->out->len - protobuf->begin;
	char *at;

	if (protobuf->begin == 0 || strbuf_error(protobuf->out) < 0)
		return;
	at = protobuf->out->data + protobuf->begin - LENGTH_SIZE;
	for (int i = 0; i < LENGTH_SIZE - 1; i++, len >>= 7)
		at[i] = (char)((len & 0x7f) | 0x80);
	at[LENGTH_SIZE - 1] = (char)len;
}

static uint64_t type_number(enum family_type type)
{
	if (type == FAMILY_COUNTER)
		return TYPE_COUNTER;
	return type == FAMILY_HISTOGRAM ? TYPE_HISTOGRAM : TYPE_GAUGE;
}

/* With the first sample: a family without any leaves no trace. */
static void begin_family(struct protobuf_sink *protobuf)
{
	static const char length[LENGTH_SIZE];
	const struct family *family = protobuf->family;
	struct strbuf *out = protobuf->out;

	if (protobuf->begin != 0)
		return;
	strbuf_add(out, length, LENGTH_SIZE);
	protobuf->begin = out->len;
	add_bytes(out, FAMILY_NAME, protobuf->name, strlen(protobuf->name));
	add_bytes(out, FAMILY_HELP, family->help, strlen(family->help));
	add_varint(out, FAMILY_TYPE, type_number(family->type));
	if (*family->unit)
		add_bytes(out, FAMILY_UNIT, family->unit, strlen(family->unit));
}

static void family(struct sink *sink, const struct family *family, const char *name)
{
	struct protobuf_sink *protobuf = (struct protobuf_sink *)sink;

	end_family(protobuf);
	protobuf->begin = 0;
	protobuf->family = family;
	(void)snprintf(protobuf->name, sizeof(protobuf->name), "%s%s", name, family_suffix(family));
}

/* Readers add the bucket of all, whose bound is infinite. */
static void add_histogram(struct strbuf *out, const struct histogram *histogram, int64_t created_ms)
{
	char created[CREATED_MAX];
	uint64_t cumulative = 0;

	add_varint(out, HISTOGRAM_COUNT, histogram->count);
	add_double(out, HISTOGRAM_SUM, histogram->sum);
	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		if (isinf(histogram->bounds[i]))
			break;
		cumulative += histogram->counts[i];
		add_varint(out, HISTOGRAM_BUCKET, 1 + varint_len(cumulative) + 9);
		add_varint(out, BUCKET_COUNT, cumulative);
		add_double(out, BUCKET_BOUND, histogram->bounds[i]);
	}
	strbuf_add(out, created,
		   (size_t)(put_created(created, HISTOGRAM_CREATED, created_ms) - created));
}

static void point(struct sink *sink, const struct point *point)
{
	struct protobuf_sink *protobuf = (struct protobuf_sink *)sink;
	struct strbuf *body = &protobuf->scratch;
	const struct value *value = &point->value;

	begin_family(protobuf);
	strbuf_reset(body);
	if (point->row)
		strbuf_add(body, point->row->text, point->row->len);
	protobuf_labels(body, &point->labels);
	if (point->histogram) {
		CLEANUP(strbuf_release) struct strbuf histogram = STRBUF_INIT;

		add_histogram(&histogram, point->histogram, point->created_ms);
		add_bytes(body, METRIC_HISTOGRAM, histogram.data, histogram.len);
	} else {
		char number[NUMBER_MAX];
		double real =
			value->is_real ? value->real : scaled(value->integer, value->decimals);

		strbuf_add(body, number,
			   (size_t)(put_number(number, protobuf->family->type == FAMILY_COUNTER,
					       real, point->created_ms) -
				    number));
	}
	add_bytes(protobuf->out, FAMILY_METRIC, body->data, body->len);
}

struct piece {
	const char *bytes;
	size_t len;
};

/* The hot path, as in text_sink.c: pieces side by side, behind the length of their sum. */
static void add_rows(struct protobuf_sink *protobuf, const struct row_block *block,
		     const struct piece ends[2])
{
	const struct row_view *view = block->view;
	const struct row_text *texts = view->texts[block->names];
	bool counter = protobuf->family->type == FAMILY_COUNTER;
	struct strbuf *out = protobuf->out;

	for (uint32_t row = 0; row < view->count; row++) {
		struct piece end = ends[view->rows[row].ended];
		char number[NUMBER_MAX], *at;
		size_t number_len;

		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		number_len =
			(size_t)(put_number(number, counter,
					    scaled(row_block_value(block, row), block->decimals),
					    view->rows[row].created_ms) -
				 number);
		if (!strbuf_reserve(out, 1 + VARINT_MAX + texts[row].len + end.len + number_len))
			return;
		at = out->data + out->len;
		*at++ = FAMILY_METRIC;
		at = put_varint(at, texts[row].len + end.len + number_len);
		at = put_bytes(at, texts[row].text, texts[row].len);
		at = put_bytes(at, end.bytes, end.len);
		at = put_bytes(at, number, number_len);
		*at = '\0';
		out->len = (size_t)(at - out->data);
	}
}

static void rows(struct sink *sink, const struct row_block *block)
{
	struct protobuf_sink *protobuf = (struct protobuf_sink *)sink;
	struct strbuf *scratch = &protobuf->scratch;
	size_t living_len;

	begin_family(protobuf);
	strbuf_reset(scratch);
	protobuf_labels(scratch, &block->end[0]);
	living_len = scratch->len;
	protobuf_labels(scratch, &block->end[1]);
	strbuf_add(scratch, "", 1); /* so that there is one */
	if (strbuf_error(scratch) < 0)
		return;
	add_rows(
		protobuf, block,
		(struct piece[2]){ { scratch->data, living_len },
				   { scratch->data + living_len, scratch->len - 1 - living_len } });
}

void protobuf_sink_init(struct protobuf_sink *protobuf, struct strbuf *out)
{
	*protobuf = (struct protobuf_sink){ .sink = { family, point, rows }, .out = out };
}

int protobuf_sink_finish(struct protobuf_sink *protobuf)
{
	end_family(protobuf);
	if (strbuf_error(&protobuf->scratch) < 0)
		protobuf->out->failed = true;
	strbuf_release(&protobuf->scratch);
	return strbuf_error(protobuf->out);
}
