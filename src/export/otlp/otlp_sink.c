// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/protobuf_writer.h"
#include "export/nearest_double.h"
#include "export/otlp/otlp_attributes.h"

/* Request; ResourceMetrics; ScopeMetrics, InstrumentationScope; Metric; Sum, Gauge; point. */
#define REQUEST_RESOURCE       PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define METRICS_RESOURCE       PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define METRICS_SCOPE          PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define RESOURCE_ATTRIBUTE     PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SCOPE_SCOPE            PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SCOPE_METRIC           PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define SCOPE_NAME             PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SCOPE_VERSION          PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define METRIC_NAME            PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define METRIC_DESCRIPTION     PROTOBUF_TAG(2, PROTOBUF_BYTES)
#define METRIC_UNIT            PROTOBUF_TAG(3, PROTOBUF_BYTES)
#define METRIC_GAUGE           PROTOBUF_TAG(5, PROTOBUF_BYTES)
#define METRIC_SUM             PROTOBUF_TAG(7, PROTOBUF_BYTES)
#define DATA_POINT             PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SUM_TEMPORALITY        PROTOBUF_TAG(2, PROTOBUF_VARINT)
#define SUM_IS_MONOTONIC       PROTOBUF_TAG(3, PROTOBUF_VARINT)
#define POINT_START            PROTOBUF_TAG(2, PROTOBUF_FIXED64)
#define POINT_TIME             PROTOBUF_TAG(3, PROTOBUF_FIXED64)
#define POINT_DOUBLE           PROTOBUF_TAG(4, PROTOBUF_FIXED64)
#define POINT_ATTRIBUTE        PROTOBUF_TAG(7, PROTOBUF_BYTES)
#define POINT_FLAGS            PROTOBUF_TAG(8, PROTOBUF_VARINT)

#define TEMPORALITY_DELTA      1
#define TEMPORALITY_CUMULATIVE 2
#define NO_RECORDED_VALUE      1 /* a flag: the series has ended */

#define SERVICE_INSTANCE       "service.instance.id"

/* Columns that the rows of a table have as a point of @family. */
struct block {
	const struct family *family;
	const struct row_view *view;
	uint32_t columns_at, column_count; /* in the sink's columns */
	unsigned decimals;
	size_t attributes_at, attributes_len; /* in the sink's attributes, as fields of a point */
};

/* Where a row's start and value are in the bytes of its metrics. */
struct gap {
	size_t start_at, value_at;
	const struct block *block;
};

/* The metrics of one row, as a field of ResourceMetrics. */
struct form {
	struct strbuf bytes;
	struct gap *gaps;
	size_t gap_count, gap_size;
};

struct otlp_sink {
	struct sink sink; /* first */
	const struct otlp_target *target;
	const struct catalog_view *view;
	struct otlp_memory *memory;
	struct strbuf *out;
	uint64_t points;
	bool failed;
	/* The machine's resource: */
	const struct family *family;
	size_t resource_at, scope_at; /* where it and its ScopeMetrics begin, for protobuf_end() */
	size_t metric_at, data_at;    /* the same of the metric; 0: it has no point yet */
	/* The rows: */
	struct block *blocks;
	size_t block_count, block_size;
	uint32_t *columns;
	size_t column_count, column_size;
	struct strbuf attributes;
	struct form living, ended; /* of a row that has a value, and of one that has ended */
};

static uint64_t nanoseconds(int64_t ms)
{
	return ms > 0 ? (uint64_t)ms * NSEC_PER_MSEC : 0;
}

static uint64_t time_ns(const struct otlp_sink *sink)
{
	return nanoseconds(sink->view->snapshot->realtime_ms);
}

/* A clock that was set back must not make a series begin after its point. */
static uint64_t start_ns(const struct otlp_sink *sink, int64_t created_ms)
{
	uint64_t start = nanoseconds(created_ms), time = time_ns(sink);

	return start < time ? start : time;
}

/* Retired energy is not what was used since the last request: it was in rows before. */
static bool is_delta(const struct otlp_sink *sink, const struct family *family)
{
	return sink->target->is_delta && family->type == FAMILY_COUNTER && family->of != OF_RETIRED;
}

/* Where counting begins in a request of deltas, for what the receiver knows. */
static uint64_t delta_start_ns(const struct otlp_sink *sink, bool is_known, int64_t created_ms)
{
	return is_known ? nanoseconds(sink->memory->delivered.time_ms) : start_ns(sink, created_ms);
}

/* ---- pieces of all resources ---- */

static void add_attributes(struct strbuf *out, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (labels->labels[i].value[0])
			otlp_attribute_add(out, POINT_ATTRIBUTE, &labels->labels[i]);
	}
}

static size_t begin_scope(struct otlp_sink *sink, struct strbuf *out)
{
	size_t begin = protobuf_begin_field(out, METRICS_SCOPE);
	size_t scope = protobuf_begin_field(out, SCOPE_SCOPE);

	protobuf_add_bytes(out, SCOPE_NAME, "kepler", strlen("kepler"));
	protobuf_add_bytes(out, SCOPE_VERSION, sink->target->version,
			   strlen(sink->target->version));
	protobuf_end(out, scope);
	return begin;
}

/* Returns where the metric begins; *ret_data: where its Sum or Gauge does. */
static size_t begin_metric(struct strbuf *out, const struct family *family, size_t *ret_data)
{
	bool is_sum = family->type == FAMILY_COUNTER;
	size_t begin = protobuf_begin_field(out, SCOPE_METRIC);

	protobuf_add_bytes(out, METRIC_NAME, family->name, strlen(family->name));
	protobuf_add_bytes(out, METRIC_DESCRIPTION, family->help, strlen(family->help));
	protobuf_add_bytes(out, METRIC_UNIT, family->unit, strlen(family->unit));
	*ret_data = protobuf_begin_field(out, is_sum ? METRIC_SUM : METRIC_GAUGE);
	return begin;
}

static void end_metric(const struct otlp_sink *sink, struct strbuf *out,
		       const struct family *family, size_t begin, size_t data)
{
	if (family->type == FAMILY_COUNTER) {
		protobuf_add_varint(out, SUM_TEMPORALITY,
				    is_delta(sink, family) ? TEMPORALITY_DELTA
							   : TEMPORALITY_CUMULATIVE);
		protobuf_add_varint(out, SUM_IS_MONOTONIC, 1);
	}
	protobuf_end(out, data);
	protobuf_end(out, begin);
}

/* ---- the machine ---- */

static void end_family(struct otlp_sink *sink)
{
	if (sink->metric_at)
		end_metric(sink, sink->out, sink->family, sink->metric_at, sink->data_at);
	sink->metric_at = 0;
}

static void family(struct sink *base, const struct family *family, const char *name)
{
	struct otlp_sink *sink = (struct otlp_sink *)base;

	(void)name; /* no name of these has a part to be replaced */
	end_family(sink);
	sink->family = family;
}

/* The energy that the receiver's value of a counter lacks. */
static uint64_t add_since(struct otlp_sink *sink, const struct strbuf *attributes, uint64_t value,
			  int64_t created_ms, uint64_t *ret_start_ns)
{
	uint64_t key = label_hash(attributes->data, attributes->len) ^
		       label_hash(sink->family->name, strlen(sink->family->name));
	uint64_t before;
	bool is_known = otlp_memory_point(sink->memory, key, value, &before);

	*ret_start_ns = delta_start_ns(sink, is_known, created_ms);
	return value - (before < value ? before : value);
}

static void point(struct sink *base, const struct point *point)
{
	struct otlp_sink *sink = (struct otlp_sink *)base;
	CLEANUP(strbuf_release) struct strbuf attributes = STRBUF_INIT;
	const struct family *family = sink->family;
	bool is_counter = family->type == FAMILY_COUNTER;
	uint64_t integer = point->value.integer, start = start_ns(sink, point->created_ms);
	size_t begin;

	if (!sink->metric_at)
		sink->metric_at = begin_metric(sink->out, family, &sink->data_at);
	add_attributes(&attributes, &point->labels);
	if (is_delta(sink, family))
		integer = add_since(sink, &attributes, integer, point->created_ms, &start);
	begin = protobuf_begin_field(sink->out, DATA_POINT);
	if (is_counter)
		protobuf_add_fixed64(sink->out, POINT_START, start);
	protobuf_add_fixed64(sink->out, POINT_TIME, time_ns(sink));
	protobuf_add_double(sink->out, POINT_DOUBLE,
			    point->value.is_real ? point->value.real
						 : nearest_scaled(integer, point->value.decimals));
	strbuf_add(sink->out, attributes.data, attributes.len);
	protobuf_end(sink->out, begin);
	sink->failed |= strbuf_error(&attributes) < 0;
	sink->points++;
}

/* ---- what rows have ---- */

static void rows(struct sink *base, const struct row_block *block)
{
	struct otlp_sink *sink = (struct otlp_sink *)base;
	size_t columns_at = sink->column_count, attributes_at = sink->attributes.len;

	if (ARRAY_RESERVE(sink->blocks, sink->block_size, sink->block_count + 1) < 0 ||
	    ARRAY_RESERVE(sink->columns, sink->column_size,
			  sink->column_count + block->column_count) < 0) {
		sink->failed = true;
		return;
	}
	memcpy(sink->columns + columns_at, block->columns,
	       block->column_count * sizeof(*block->columns));
	sink->column_count += block->column_count;
	add_attributes(&sink->attributes, &block->end[0]);
	sink->blocks[sink->block_count++] = (struct block){
		.family = sink->family,
		.view = block->view,
		.columns_at = (uint32_t)columns_at,
		.column_count = block->column_count,
		.decimals = block->decimals,
		.attributes_at = attributes_at,
		.attributes_len = sink->attributes.len - attributes_at,
	};
}

static void add_row_point(struct otlp_sink *sink, struct form *form, const struct block *block,
			  bool has_ended)
{
	struct strbuf *out = &form->bytes;
	struct gap *gap = &form->gaps[form->gap_count++];
	size_t end_len = has_ended ? 2 : PROTOBUF_FIXED64_SIZE;

	protobuf_add_varint(out, DATA_POINT,
			    2 * PROTOBUF_FIXED64_SIZE + end_len + block->attributes_len);
	gap->block = block;
	gap->start_at = out->len + 1;
	protobuf_add_fixed64(out, POINT_START, 0);
	protobuf_add_fixed64(out, POINT_TIME, time_ns(sink));
	gap->value_at = out->len + 1;
	if (has_ended)
		protobuf_add_varint(out, POINT_FLAGS, NO_RECORDED_VALUE);
	else
		protobuf_add_double(out, POINT_DOUBLE, 0);
	strbuf_add(out, sink->attributes.data + block->attributes_at, block->attributes_len);
}

/* All metrics of a table's row; @blocks are of one table, and a family's are adjacent. */
static void make_form(struct otlp_sink *sink, struct form *form, const struct block *blocks,
		      size_t count, bool has_ended)
{
	struct strbuf *out = &form->bytes;
	size_t scope, metric = 0, data = 0;

	strbuf_reset(out);
	form->gap_count = 0;
	if (ARRAY_RESERVE(form->gaps, form->gap_size, count) < 0) {
		sink->failed = true;
		return;
	}
	scope = begin_scope(sink, out);
	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count || blocks[i + 1].family != blocks[i].family;

		if (!metric)
			metric = begin_metric(out, blocks[i].family, &data);
		add_row_point(sink, form, &blocks[i], has_ended);
		if (is_last) {
			end_metric(sink, out, blocks[i].family, metric, data);
			metric = 0;
		}
	}
	protobuf_end(out, scope);
	sink->failed |= strbuf_error(out) < 0;
}

/* ---- rows ---- */

static void put_u64(char *at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		at[i] = (char)(value >> 8 * i);
}

/* The resource of a row as a field of ResourceMetrics. At most its parts and some tags. */
static void make_resource(const struct otlp_sink *sink, enum level level,
			  const struct row_text *text, struct strbuf *out)
{
	const struct otlp_target *target = sink->target;
	struct otlp_row_text row = otlp_row_text_split(text);
	CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT;
	size_t begin;

	strbuf_addf(&id, "%s/%s%.*s", target->instance, level_info[level].name, (int)row.id_len,
		    row.id);
	strbuf_reset(out);
	out->failed = strbuf_error(&id) < 0;
	if (out->failed)
		return;
	begin = protobuf_begin_field(out, METRICS_RESOURCE);
	strbuf_add(out, target->resource.data, target->resource.len);
	otlp_attribute_add(out, RESOURCE_ATTRIBUTE,
			   &(struct label_pair){ SERVICE_INSTANCE, id.data, true });
	strbuf_add(out, row.attributes, row.attributes_len);
	protobuf_end(out, begin);
}

/* Appends a resource with the metrics of @form; returns where these begin, or NULL. */
static char *add_resource(struct otlp_sink *sink, const char *resource, size_t len,
			  const struct form *form)
{
	struct strbuf *out = sink->out;

	protobuf_add_varint(out, REQUEST_RESOURCE, len + form->bytes.len);
	strbuf_add(out, resource, len);
	strbuf_add(out, form->bytes.data, form->bytes.len);
	sink->points += form->gap_count;
	return strbuf_error(out) < 0 ? NULL : out->data + out->len - form->bytes.len;
}

static uint64_t row_sum(const struct otlp_sink *sink, const struct block *block, uint32_t row)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < block->column_count; i++)
		sum += row_view_value(block->view, block->view->values, row,
				      sink->columns[block->columns_at + i]);
	return sum;
}

static uint64_t sum_before(const struct otlp_sink *sink, const struct block *block,
			   const struct otlp_entry *before)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < block->column_count; i++)
		sum += otlp_memory_value(sink->memory, before,
					 sink->columns[block->columns_at + i]);
	return sum;
}

static void fill_gaps(const struct otlp_sink *sink, char *metrics, const struct snapshot_row *row,
		      uint32_t index, const struct otlp_entry *before)
{
	for (size_t i = 0; i < sink->living.gap_count; i++) {
		const struct gap *gap = &sink->living.gaps[i];
		uint64_t value = row_sum(sink, gap->block, index);
		uint64_t start = start_ns(sink, row->created_ms), bits;
		double real;

		if (is_delta(sink, gap->block->family)) {
			value -= sum_before(sink, gap->block, before);
			start = delta_start_ns(sink, before, row->created_ms);
		}
		real = nearest_scaled(value, gap->block->decimals);
		memcpy(&bits, &real, sizeof(bits));
		put_u64(metrics + gap->start_at, start);
		put_u64(metrics + gap->value_at, bits);
	}
}

static void stage(const struct otlp_sink *sink, const struct row_view *view, uint32_t row,
		  uint32_t table, const char *resource, size_t resource_len)
{
	const struct snapshot_row *of = &view->rows[row];
	uint64_t *values = otlp_memory_stage(sink->memory,
					     &(struct otlp_entry){
						     .serial = of->labels->serial,
						     .resource_len = (uint32_t)resource_len,
						     .table = table,
						     .created_ms = of->created_ms,
					     },
					     resource);

	for (uint32_t i = 0; values && i < view->columns; i++)
		values[i] = row_view_value(view, view->values, row, i);
}

/* A row's resource, as in the last request, or made in @scratch. NULL: there is no memory. */
static const char *find_resource(const struct otlp_sink *sink, enum level level,
				 const struct row_text *text, const struct otlp_entry *before,
				 struct strbuf *scratch, size_t *ret_len)
{
	if (before) {
		*ret_len = before->resource_len;
		return sink->memory->delivered.texts.data + before->resource_at;
	}
	make_resource(sink, level, text, scratch);
	*ret_len = scratch->len;
	return strbuf_error(scratch) < 0 ? NULL : scratch->data;
}

static void add_rows(struct otlp_sink *sink, const struct row_view *view, enum level level,
		     uint32_t table)
{
	CLEANUP(strbuf_release) struct strbuf scratch = STRBUF_INIT;

	for (uint32_t row = 0; row < view->count && !sink->failed; row++) {
		const struct row_text *text = &view->texts[NAMES_OPENTELEMETRY][row];
		const struct otlp_entry *before;
		const char *resource;
		char *metrics;
		size_t len;

		if (!text->text)
			continue; /* hangs on an earlier row */
		before = otlp_memory_find(sink->memory, table, view->rows[row].labels->serial);
		resource = find_resource(sink, level, text, before, &scratch, &len);
		metrics = resource ? add_resource(sink, resource, len, &sink->living) : NULL;
		sink->failed |= !metrics;
		if (!metrics)
			return;
		fill_gaps(sink, metrics, &view->rows[row], row, before);
		stage(sink, view, row, table, resource, len);
	}
}

/* Rows that the receiver has and the snapshot has not: their series have ended. */
static void end_rows(struct otlp_sink *sink, uint32_t table)
{
	const struct otlp_generation *delivered = &sink->memory->delivered;

	for (size_t i = 0; i < delivered->count; i++) {
		const struct otlp_entry *entry = &delivered->entries[i];
		char *metrics;

		if (entry->is_seen || entry->table != table)
			continue;
		metrics = add_resource(sink, delivered->texts.data + entry->resource_at,
				       entry->resource_len, &sink->ended);
		if (!metrics)
			return;
		for (size_t j = 0; j < sink->ended.gap_count; j++)
			put_u64(metrics + sink->ended.gaps[j].start_at,
				start_ns(sink, entry->created_ms));
	}
}

static void add_table(struct otlp_sink *sink, enum level level, enum row_kind kind)
{
	const struct row_view *view = &sink->view->rows[level][kind];
	uint32_t table = (uint32_t)level * 2 + (uint32_t)kind;
	size_t begin = 0, end;

	while (begin < sink->block_count && sink->blocks[begin].view != view)
		begin++;
	for (end = begin; end < sink->block_count && sink->blocks[end].view == view;)
		end++;
	if (begin == end)
		return;
	make_form(sink, &sink->living, sink->blocks + begin, end - begin, false);
	if (!sink->failed)
		add_rows(sink, view, level, table);
	if (sink->target->is_delta || sink->failed)
		return; /* a delta of nothing needs no end */
	make_form(sink, &sink->ended, sink->blocks + begin, end - begin, true);
	if (!sink->failed)
		end_rows(sink, table);
}

/* ---- a request ---- */

static void begin_machine(struct otlp_sink *sink)
{
	struct strbuf *out = sink->out;
	size_t resource;

	strbuf_reset(out);
	strbuf_add(out, &(char){ REQUEST_RESOURCE }, 1);
	sink->resource_at = protobuf_begin(out);
	resource = protobuf_begin_field(out, METRICS_RESOURCE);
	strbuf_add(out, sink->target->resource.data, sink->target->resource.len);
	otlp_attribute_add(out, RESOURCE_ATTRIBUTE,
			   &(struct label_pair){ SERVICE_INSTANCE, sink->target->instance, false });
	protobuf_end(out, resource);
	sink->scope_at = begin_scope(sink, out);
}

static void end_machine(struct otlp_sink *sink)
{
	end_family(sink);
	protobuf_end(sink->out, sink->scope_at);
	protobuf_end(sink->out, sink->resource_at);
}

static void form_release(struct form *form)
{
	strbuf_release(&form->bytes);
	free(form->gaps);
}

static void sink_release(struct otlp_sink *sink)
{
	free(sink->blocks);
	free(sink->columns);
	strbuf_release(&sink->attributes);
	form_release(&sink->living);
	form_release(&sink->ended);
}

int otlp_render(const struct otlp_target *target, const struct catalog_view *view,
		struct otlp_memory *memory, struct strbuf *out, uint64_t *ret_points)
{
	CLEANUP(sink_release)
	struct otlp_sink sink = { .sink = { family, point, rows },
				  .target = target,
				  .view = view,
				  .memory = memory,
				  .out = out };

	otlp_memory_begin(memory, view->snapshot->realtime_ms,
			  target->is_delta ? view->snapshot->columns : 0);
	begin_machine(&sink);
	catalog_walk(view, SCHEMA_OPENTELEMETRY, &sink.sink);
	end_machine(&sink);
	if (strbuf_error(&sink.attributes) < 0)
		return -ENOMEM;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		for (enum row_kind kind = ROWS_LIVING; kind <= ROWS_RETIRED; kind++)
			add_table(&sink, level, kind);
	}
	*ret_points = sink.points;
	return sink.failed || memory->failed || strbuf_error(&memory->staged.texts) < 0
		       ? -ENOMEM
		       : strbuf_error(out);
}
