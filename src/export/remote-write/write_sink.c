// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_sink.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "base/num.h"
#include "export/nearest_double.h"

#define SPARE_SYMBOLS 256

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* ---- families ---- */

static bool matches(char *const *globs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(globs[i], name, 0) == 0)
			return true;
	}
	return false;
}

bool write_family_is_kept(const struct write_sink_options *options, const char *name)
{
	if (options->keep_count && !matches(options->keep, options->keep_count, name))
		return false;
	return !matches(options->drop, options->drop_count, name);
}

static enum write_type type_of(enum family_type type)
{
	static const enum write_type types[] = {
		[FAMILY_COUNTER] = WRITE_TYPE_COUNTER,
		[FAMILY_GAUGE] = WRITE_TYPE_GAUGE,
		[FAMILY_INFO] = WRITE_TYPE_INFO,
		[FAMILY_HISTOGRAM] = WRITE_TYPE_HISTOGRAM,
	};

	return types[type];
}

static struct write_batch *batch_of(struct write_sink *sink)
{
	return &sink->part->batch;
}

static void make_metadata(struct write_sink *sink)
{
	const struct family *family = sink->family;
	uint32_t help = write_batch_symbol(batch_of(sink), family->help, strlen(family->help));
	uint32_t unit = write_batch_symbol(batch_of(sink), family->unit, strlen(family->unit));

	strbuf_reset(&sink->metadata);
	write_metadata(&sink->metadata, type_of(family->type), help, unit);
}

static void family(struct sink *base, const struct family *family, const char *name)
{
	struct write_sink *sink = (struct write_sink *)base;

	sink->family = family;
	(void)snprintf(sink->name, sizeof(sink->name), "%s%s", name, family_suffix(family));
	sink->is_dropped = !write_family_is_kept(sink->options, sink->name);
	strbuf_reset(&sink->metadata);
}

/* ---- batches ---- */

/* Goes on with @part, whose symbols are made again if too many of them belong to nothing. */
static void begin_part(struct write_sink *sink, struct write_part *part, bool keep)
{
	struct write_batch *batch = &part->batch;
	uint32_t most = part->symbols + part->symbols / 4 + SPARE_SYMBOLS;

	sink->part = part;
	strbuf_reset(&sink->metadata);
	if (keep && part->symbols && batch->symbol_count <= most && batch->error == 0 &&
	    strbuf_error(&batch->symbol_fields) == 0 && strbuf_error(&batch->texts) == 0 &&
	    strbuf_error(&batch->series) == 0) {
		write_batch_next(batch);
		write_rows_begin(&part->rows);
		return;
	}
	write_batch_reset(batch);
	write_rows_forget(&part->rows);
	write_rows_begin(&part->rows);
	part->symbols = 0;
}

static void hand_over(struct write_sink *sink)
{
	struct write_part *part = sink->part;
	bool is_last = part == &sink->parts[WRITE_PARTS_MAX - 1];

	if (sink->error == 0)
		sink->error = part->batch.error;
	if (sink->error == 0 && part->batch.series_count)
		sink->error = sink->full(sink->userdata, &part->batch);
	if (!part->symbols)
		part->symbols = part->batch.symbol_count;
	if (part->batch.series_count)
		begin_part(sink, is_last ? part : part + 1, !is_last);
}

void write_sink_make_room(struct write_sink *sink)
{
	const struct write_batch *batch = batch_of(sink);

	if (batch->series_count >= WRITE_SERIES_MAX / 2 ||
	    batch->symbol_count >= WRITE_SYMBOLS_MAX / 2 ||
	    write_batch_size(batch) >= WRITE_MESSAGE_FULL)
		hand_over(sink);
}

/* ---- labels ---- */

void write_form(struct strbuf *out, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		strbuf_add(out, labels->labels[i].name, strlen(labels->labels[i].name) + 1);
		label_clean_value(out, &labels->labels[i], false);
		strbuf_add(out, "", 1);
	}
}

static void add_form(struct write_batch *batch, struct write_labels *labels, const char *text,
		     size_t len)
{
	for (const char *at = text, *end = text + len; at < end;) {
		const char *value = at + strlen(at) + 1;
		size_t value_len = strlen(value);

		write_labels_add(batch, labels, at, value, value_len);
		at = value + value_len + 1;
	}
}

/* The name with @suffix, @labels of the point or block, and those of every series. */
static void make_tail(struct write_sink *sink, const char *suffix, const struct labels *labels,
		      struct write_labels *ret)
{
	char name[sizeof(sink->name) + 8];

	ret->count = 0;
	ret->hash = 0;
	(void)snprintf(name, sizeof(name), "%s%s", sink->name, suffix);
	write_labels_add(batch_of(sink), ret, "__name__", name, strlen(name));
	strbuf_reset(&sink->scratch);
	write_form(&sink->scratch, labels);
	add_form(batch_of(sink), ret, sink->scratch.data, sink->scratch.len);
	for (size_t i = 0; i < sink->options->external_count; i++) {
		const struct label_pair *pair = &sink->options->externals[i];

		write_labels_add(batch_of(sink), ret, pair->name, pair->value, strlen(pair->value));
	}
}

/* Merges a row's labels with the others; at an equal name the row's stay. */
static void merge(const struct write_batch *batch, const struct write_label *row, size_t row_count,
		  const struct write_labels *tail, struct write_labels *ret)
{
	size_t i = 0, j = 0, count = 0;

	while ((i < row_count || j < tail->count) && count < WRITE_LABELS_MAX) {
		int order = i == row_count ? 1
			    : j == tail->count
				    ? -1
				    : write_label_compare(batch, &row[i], &tail->labels[j]);

		ret->labels[count++] = order <= 0 ? row[i] : tail->labels[j];
		if (order == 0)
			ret->hash -= write_label_hash(batch, tail->labels[j].name,
						      tail->labels[j].value);
		i += order <= 0;
		j += order >= 0;
	}
	ret->count = count;
}

/* ---- samples ---- */

static void add_series(struct write_sink *sink, const char *labels, size_t len, uint64_t hash,
		       uint64_t bits, int64_t created_ms)
{
	const struct write_series series = {
		.labels = labels,
		.labels_len = len,
		.hash = hash,
		.value_bits = bits,
		.time_ms = sink->time_ms,
		.start_ms = sink->family->type == FAMILY_COUNTER ||
					    sink->family->type == FAMILY_HISTOGRAM
				    ? created_ms
				    : 0,
		.metadata = sink->metadata.data,
		.metadata_len = sink->metadata.len,
	};

	write_batch_add(batch_of(sink), &series);
}

/* 0 has another meaning. */
static uint64_t hash_of(const struct write_labels *labels)
{
	return labels->hash ? labels->hash : 1;
}

/* A point of a family, or one of the several that a histogram has. */
static void add_point(struct write_sink *sink, const struct point *point, const char *suffix,
		      const struct label_pair *bound, double value)
{
	struct write_labels tail, row = { .count = 0 }, all;
	char field[WRITE_LABELS_FIELD_MAX];

	write_sink_make_room(sink);
	if (!sink->metadata.len)
		make_metadata(sink);
	make_tail(sink, suffix, &point->labels, &tail);
	if (bound)
		write_labels_add(batch_of(sink), &tail, bound->name, bound->value,
				 strlen(bound->value));
	if (point->row)
		add_form(batch_of(sink), &row, point->row->text, point->row->len);
	all.hash = row.hash + tail.hash;
	merge(batch_of(sink), row.labels, row.count, &tail, &all);
	add_series(sink, field, write_labels_encode(all.labels, all.count, field), hash_of(&all),
		   bits_of(value), point->created_ms);
}

static void add_histogram(struct write_sink *sink, const struct point *point)
{
	const struct histogram *histogram = point->histogram;
	char text[FORMAT_DOUBLE_MAX + 1];
	const struct label_pair bound = { "le", text, false };
	uint64_t cumulative = 0;

	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		if (isinf(histogram->bounds[i]))
			break;
		cumulative += histogram->counts[i];
		text[format_double(text, histogram->bounds[i])] = '\0';
		add_point(sink, point, "_bucket", &bound, (double)cumulative);
	}
	(void)snprintf(text, sizeof(text), "+Inf");
	add_point(sink, point, "_bucket", &bound, (double)histogram->count);
	add_point(sink, point, "_sum", NULL, histogram->sum);
	add_point(sink, point, "_count", NULL, (double)histogram->count);
}

static void point(struct sink *base, const struct point *point)
{
	struct write_sink *sink = (struct write_sink *)base;

	if (sink->is_dropped || sink->error < 0)
		return;
	if (point->histogram)
		add_histogram(sink, point);
	else
		add_point(sink, point, "", NULL, nearest_value(&point->value));
}

/* The rows of one family, as far as they are in one part. */
struct row_run {
	const struct write_part *part; /* NULL: none has begun */
	struct write_block *block;     /* NULL: there was no room for one */
	bool has_tails;
	struct write_labels tails[2]; /* of rows that live and have ended */
};

/* Stands for the labels that rows do not have themselves, and for the names of their own. */
static uint64_t key_of(struct write_sink *sink, const struct row_block *block)
{
	const char names = (char)block->names;
	uint64_t key = hash64_bytes(HASH64_START, &names, 1);

	strbuf_reset(&sink->scratch);
	for (size_t i = 0; i < ARRAY_SIZE(block->end); i++) {
		write_form(&sink->scratch, &block->end[i]);
		strbuf_add(&sink->scratch, "", 1);
	}
	key = hash64_bytes(key, sink->scratch.data, sink->scratch.len);
	return hash64_bytes(key, sink->name, strlen(sink->name));
}

static void begin_run(struct write_sink *sink, const struct row_block *block, struct row_run *run)
{
	run->part = sink->part;
	run->block = write_rows_block(&sink->part->rows, key_of(sink, block));
	run->has_tails = false;
	make_metadata(sink);
}

static void encode_row(struct write_sink *sink, const struct row_block *block, struct row_run *run,
		       uint32_t row, char field[WRITE_LABELS_FIELD_MAX], struct write_row *ret)
{
	const struct snapshot_row *of = &block->view->rows[row];
	const struct row_text *text = &block->view->texts[block->names][row];
	struct write_labels own = { .count = 0 }, all;

	if (!run->has_tails) {
		make_tail(sink, "", &block->end[0], &run->tails[0]);
		make_tail(sink, "", &block->end[1], &run->tails[1]);
		run->has_tails = true;
	}
	add_form(batch_of(sink), &own, text->text, text->len);
	all.hash = own.hash + run->tails[of->ended].hash;
	merge(batch_of(sink), own.labels, own.count, &run->tails[of->ended], &all);
	*ret = (struct write_row){ .serial = of->labels->serial,
				   .hash = hash_of(&all),
				   .len = (uint16_t)write_labels_encode(all.labels, all.count,
									field),
				   .has_ended = of->ended };
	if (run->block && batch_of(sink)->error == 0)
		write_block_put(run->block, of->labels->slot, ret, field);
}

static void add_row(struct write_sink *sink, const struct row_block *block, struct row_run *run,
		    uint32_t row)
{
	const struct snapshot_row *of = &block->view->rows[row];
	char field[WRITE_LABELS_FIELD_MAX];
	const struct write_row *found = NULL;
	const char *labels = field;
	struct write_row fresh;

	if (run->block)
		found = write_block_row(run->block, of->labels->slot, of->labels->serial,
					of->ended);
	if (found) {
		labels = run->block->bytes.data + found->at;
	} else {
		encode_row(sink, block, run, row, field, &fresh);
		found = &fresh;
	}
	add_series(sink, labels, found->len, found->hash,
		   bits_of(nearest_scaled(row_block_value(block, row), block->decimals)),
		   of->created_ms);
}

static void rows(struct sink *base, const struct row_block *block)
{
	struct write_sink *sink = (struct write_sink *)base;
	const struct row_view *view = block->view;
	const struct row_text *texts = view->texts[block->names];
	struct row_run run;

	run.part = NULL;
	run.block = NULL;
	run.has_tails = false;
	if (sink->is_dropped)
		return;
	for (uint32_t row = 0; row < view->count && sink->error == 0; row++) {
		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		write_sink_make_room(sink);
		if (run.part != sink->part || !sink->metadata.len)
			begin_run(sink, block, &run);
		add_row(sink, block, &run, row);
	}
}

void write_sink_init(struct write_sink *sink, const struct write_sink_options *options)
{
	*sink = (struct write_sink){ .sink = { family, point, rows }, .options = options };
	for (size_t i = 0; i < ARRAY_SIZE(sink->parts); i++)
		write_batch_init(&sink->parts[i].batch);
	sink->part = sink->parts;
}

void write_sink_release(struct write_sink *sink)
{
	for (size_t i = 0; i < ARRAY_SIZE(sink->parts); i++) {
		write_batch_release(&sink->parts[i].batch);
		write_rows_release(&sink->parts[i].rows);
	}
	strbuf_release(&sink->metadata);
	strbuf_release(&sink->scratch);
}

void write_sink_begin(struct write_sink *sink, int64_t time_ms)
{
	begin_part(sink, sink->parts, true);
	sink->time_ms = time_ms;
	sink->error = 0;
}

int write_sink_finish(struct write_sink *sink)
{
	hand_over(sink);
	return sink->error;
}
