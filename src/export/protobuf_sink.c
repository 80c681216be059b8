// SPDX-License-Identifier: Apache-2.0
/* The fields are those of client_model's metrics.proto (proto2). */
#include "export/protobuf_sink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/protobuf_writer.h"
#include "export/label_escape.h"
#include "export/nearest_double.h"

/* MetricFamily; LabelPair; Metric; Counter, Gauge, Histogram; Bucket; Timestamp. */
#define FAMILY_NAME       PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define FAMILY_HELP       PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define FAMILY_TYPE       PROTOBUF_TAG(3, PROTOBUF_VARINT)
#define FAMILY_METRIC     PROTOBUF_TAG(4, PROTOBUF_BYTES)
#define FAMILY_UNIT       PROTOBUF_TAG(5, PROTOBUF_BYTES)
#define PAIR_NAME         PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define PAIR_VALUE        PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define METRIC_LABEL      PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define METRIC_GAUGE      PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define METRIC_COUNTER    PROTOBUF_TAG(3, PROTOBUF_BYTES)
#define METRIC_HISTOGRAM  PROTOBUF_TAG(7, PROTOBUF_BYTES)
#define VALUE_VALUE       PROTOBUF_TAG(1, PROTOBUF_FIXED64)
#define COUNTER_CREATED   PROTOBUF_TAG(3, PROTOBUF_BYTES)
#define HISTOGRAM_COUNT   PROTOBUF_TAG(1, PROTOBUF_VARINT)
#define HISTOGRAM_SUM     PROTOBUF_TAG(2, PROTOBUF_FIXED64)
#define HISTOGRAM_BUCKET  PROTOBUF_TAG(3, PROTOBUF_BYTES)
#define HISTOGRAM_CREATED PROTOBUF_TAG(15, PROTOBUF_BYTES)
#define BUCKET_COUNT      PROTOBUF_TAG(1, PROTOBUF_VARINT)
#define BUCKET_BOUND      PROTOBUF_TAG(2, PROTOBUF_FIXED64)
#define TIMESTAMP_SECONDS PROTOBUF_TAG(1, PROTOBUF_VARINT)
#define TIMESTAMP_NANOS   PROTOBUF_TAG(2, PROTOBUF_VARINT)

#define TYPE_COUNTER      0
#define TYPE_GAUGE        1
#define TYPE_HISTOGRAM    4

/* Tag, length and two fields; a Counter or Gauge with its tag. */
#define CREATED_MAX (2 + 2 * (1 + PROTOBUF_VARINT_MAX))
#define NUMBER_MAX  (2 + PROTOBUF_FIXED64_SIZE + CREATED_MAX)

static char *put_created(char *at, char tag, int64_t created_ms)
{
	uint64_t ms = created_ms > 0 ? (uint64_t)created_ms : 0;
	char *len;

	*at++ = tag;
	len = at++;
	*at++ = TIMESTAMP_SECONDS;
	at = protobuf_put_varint(at, ms / 1000);
	*at++ = TIMESTAMP_NANOS;
	at = protobuf_put_varint(at, ms % 1000 * 1000000);
	*len = (char)(at - len - 1);
	return at;
}

/* A Counter or Gauge. At most NUMBER_MAX bytes. */
static char *put_number(char *at, bool counter, double value, int64_t created_ms)
{
	char *len;

	*at++ = counter ? METRIC_COUNTER : METRIC_GAUGE;
	len = at++;
	at = protobuf_put_double(at, VALUE_VALUE, value);
	if (counter)
		at = put_created(at, COUNTER_CREATED, created_ms);
	*len = (char)(at - len - 1);
	return at;
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
		protobuf_add_varint(out, METRIC_LABEL,
				    protobuf_field_len(name_len) + protobuf_field_len(value.len));
		protobuf_add_bytes(out, PAIR_NAME, name, name_len);
		protobuf_add_bytes(out, PAIR_VALUE, value.data, value.len);
	}
}

static void end_family(struct protobuf_sink *protobuf)
{
	if (protobuf->begin != 0)
		protobuf_end(protobuf->out, protobuf->begin);
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
	const struct family *family = protobuf->family;
	struct strbuf *out = protobuf->out;

	if (protobuf->begin != 0)
		return;
	protobuf->begin = protobuf_begin(out);
	protobuf_add_bytes(out, FAMILY_NAME, protobuf->name, strlen(protobuf->name));
	protobuf_add_bytes(out, FAMILY_HELP, family->help, strlen(family->help));
	protobuf_add_varint(out, FAMILY_TYPE, type_number(family->type));
	if (*family->unit)
		protobuf_add_bytes(out, FAMILY_UNIT, family->unit, strlen(family->unit));
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

	protobuf_add_varint(out, HISTOGRAM_COUNT, histogram->count);
	protobuf_add_double(out, HISTOGRAM_SUM, histogram->sum);
	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		if (isinf(histogram->bounds[i]))
			break;
		cumulative += histogram->counts[i];
		protobuf_add_varint(out, HISTOGRAM_BUCKET,
				    1 + protobuf_varint_len(cumulative) + PROTOBUF_FIXED64_SIZE);
		protobuf_add_varint(out, BUCKET_COUNT, cumulative);
		protobuf_add_double(out, BUCKET_BOUND, histogram->bounds[i]);
	}
	strbuf_add(out, created,
		   (size_t)(put_created(created, HISTOGRAM_CREATED, created_ms) - created));
}

static void point(struct sink *sink, const struct point *point)
{
	struct protobuf_sink *protobuf = (struct protobuf_sink *)sink;
	struct strbuf *body = &protobuf->scratch;

	begin_family(protobuf);
	strbuf_reset(body);
	if (point->row)
		strbuf_add(body, point->row->text, point->row->len);
	protobuf_labels(body, &point->labels);
	if (point->histogram) {
		CLEANUP(strbuf_release) struct strbuf histogram = STRBUF_INIT;

		add_histogram(&histogram, point->histogram, point->created_ms);
		protobuf_add_bytes(body, METRIC_HISTOGRAM, histogram.data, histogram.len);
	} else {
		char number[NUMBER_MAX];

		strbuf_add(body, number,
			   (size_t)(put_number(number, protobuf->family->type == FAMILY_COUNTER,
					       nearest_value(&point->value), point->created_ms) -
				    number));
	}
	protobuf_add_bytes(protobuf->out, FAMILY_METRIC, body->data, body->len);
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
		number_len = (size_t)(put_number(number, counter,
						 nearest_scaled(row_block_value(block, row),
								block->decimals),
						 view->rows[row].created_ms) -
				      number);
		if (!strbuf_reserve(out, 1 + PROTOBUF_VARINT_MAX + texts[row].len + end.len +
						 number_len))
			return;
		at = out->data + out->len;
		*at++ = FAMILY_METRIC;
		at = protobuf_put_varint(at, texts[row].len + end.len + number_len);
		at = protobuf_put_raw(at, texts[row].text, texts[row].len);
		at = protobuf_put_raw(at, end.bytes, end.len);
		at = protobuf_put_raw(at, number, number_len);
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
