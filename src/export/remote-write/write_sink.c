// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_sink.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "export/nearest_double.h"

#define NOT_MADE UINT32_MAX

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

static void make_metadata(struct write_sink *sink)
{
	const struct family *family = sink->family;
	uint32_t help = write_batch_symbol(&sink->batch, family->help, strlen(family->help));
	uint32_t unit = write_batch_symbol(&sink->batch, family->unit, strlen(family->unit));

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

static void forget_rows(struct write_sink *sink)
{
	for (size_t i = 0; i < sink->view_count; i++)
		sink->views[i].texts = NULL;
	sink->view_count = 0;
}

static void hand_over(struct write_sink *sink)
{
	if (sink->error == 0)
		sink->error = sink->batch.error;
	if (sink->error == 0 && sink->batch.series_count)
		sink->error = sink->full(sink->userdata, &sink->batch);
	write_batch_reset(&sink->batch);
	forget_rows(sink);
	strbuf_reset(&sink->metadata);
}

void write_sink_make_room(struct write_sink *sink)
{
	if (sink->batch.series_count >= WRITE_SERIES_MAX / 2 ||
	    sink->batch.symbol_count >= WRITE_SYMBOLS_MAX / 2 ||
	    write_batch_size(&sink->batch) >= WRITE_MESSAGE_FULL)
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
	write_labels_add(&sink->batch, ret, "__name__", name, strlen(name));
	strbuf_reset(&sink->scratch);
	write_form(&sink->scratch, labels);
	add_form(&sink->batch, ret, sink->scratch.data, sink->scratch.len);
	for (size_t i = 0; i < sink->options->external_count; i++) {
		const struct label_pair *pair = &sink->options->externals[i];

		write_labels_add(&sink->batch, ret, pair->name, pair->value, strlen(pair->value));
	}
}

static int view_reserve(struct write_view *view, size_t rows)
{
	if (rows > view->row_size || !view->begins) {
		size_t size = rows + rows / 4 + 16;

		if (ARRAY_RESIZE(view->begins, size) < 0 || ARRAY_RESIZE(view->counts, size) < 0 ||
		    ARRAY_RESIZE(view->hashes, size) < 0)
			return -ENOMEM;
		view->row_size = (uint32_t)size;
	}
	memset(view->counts, 0xff, rows * sizeof(*view->counts));
	view->label_count = 0;
	return 0;
}

static struct write_view *find_view(struct write_sink *sink, const struct row_text *texts,
				    size_t rows)
{
	struct write_view *view;

	for (size_t i = 0; i < sink->view_count; i++) {
		if (sink->views[i].texts == texts)
			return &sink->views[i];
	}
	if (sink->view_count == WRITE_VIEWS_MAX)
		return NULL;
	view = &sink->views[sink->view_count];
	if (view_reserve(view, rows) < 0)
		return NULL;
	view->texts = texts;
	sink->view_count++;
	return view;
}

static int make_row(struct write_sink *sink, struct write_view *view, uint32_t row)
{
	struct write_labels labels = { .count = 0 };

	add_form(&sink->batch, &labels, view->texts[row].text, view->texts[row].len);
	if (ARRAY_RESERVE(view->labels, view->label_size, view->label_count + labels.count) < 0)
		return -ENOMEM;
	if (labels.count) /* else there may be no array yet */
		memcpy(view->labels + view->label_count, labels.labels,
		       labels.count * sizeof(*labels.labels));
	view->begins[row] = view->label_count;
	view->counts[row] = (uint32_t)labels.count;
	view->hashes[row] = labels.hash;
	view->label_count += (uint32_t)labels.count;
	return 0;
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

static void add_series(struct write_sink *sink, const struct write_labels *labels, uint64_t bits,
		       int64_t created_ms)
{
	const struct write_series series = {
		.labels = labels->labels,
		.label_count = labels->count,
		.hash = labels->hash ? labels->hash : 1,
		.value_bits = bits,
		.time_ms = sink->time_ms,
		.start_ms = sink->family->type == FAMILY_COUNTER ||
					    sink->family->type == FAMILY_HISTOGRAM
				    ? created_ms
				    : 0,
		.metadata = sink->metadata.data,
		.metadata_len = sink->metadata.len,
	};

	write_batch_add(&sink->batch, &series);
}

/* A point of a family, or one of the several that a histogram has. */
static void add_point(struct write_sink *sink, const struct point *point, const char *suffix,
		      const struct label_pair *bound, double value)
{
	struct write_labels tail, row = { .count = 0 }, all;

	write_sink_make_room(sink);
	if (!sink->metadata.len)
		make_metadata(sink);
	make_tail(sink, suffix, &point->labels, &tail);
	if (bound)
		write_labels_add(&sink->batch, &tail, bound->name, bound->value,
				 strlen(bound->value));
	if (point->row)
		add_form(&sink->batch, &row, point->row->text, point->row->len);
	all.hash = row.hash + tail.hash;
	merge(&sink->batch, row.labels, row.count, &tail, &all);
	add_series(sink, &all, bits_of(value), point->created_ms);
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

static void add_row(struct write_sink *sink, const struct row_block *block,
		    const struct write_view *rows, const struct write_labels *tail, uint32_t row)
{
	struct write_labels all;

	all.hash = rows->hashes[row] + tail->hash;
	merge(&sink->batch, rows->labels + rows->begins[row], rows->counts[row], tail, &all);
	add_series(sink, &all,
		   bits_of(nearest_scaled(row_block_value(block, row), block->decimals)),
		   block->view->rows[row].created_ms);
}

static void rows(struct sink *base, const struct row_block *block)
{
	struct write_sink *sink = (struct write_sink *)base;
	const struct row_view *view = block->view;
	const struct row_text *texts = view->texts[block->names];
	struct write_labels tails[2];
	struct write_view *found = NULL;

	if (sink->is_dropped)
		return;
	for (uint32_t row = 0; row < view->count && sink->error == 0; row++) {
		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		write_sink_make_room(sink);
		if (!found || found->texts != texts) {
			found = find_view(sink, texts, view->count);
			if (!found) {
				sink->error = -ENOMEM;
				return;
			}
			make_metadata(sink);
			make_tail(sink, "", &block->end[0], &tails[0]);
			make_tail(sink, "", &block->end[1], &tails[1]);
		}
		if (found->counts[row] == NOT_MADE && make_row(sink, found, row) < 0)
			sink->error = -ENOMEM;
		else
			add_row(sink, block, found, &tails[view->rows[row].ended], row);
	}
}

void write_sink_init(struct write_sink *sink, const struct write_sink_options *options)
{
	*sink = (struct write_sink){ .sink = { family, point, rows }, .options = options };
	write_batch_init(&sink->batch);
}

void write_sink_release(struct write_sink *sink)
{
	write_batch_release(&sink->batch);
	strbuf_release(&sink->metadata);
	strbuf_release(&sink->scratch);
	for (size_t i = 0; i < ARRAY_SIZE(sink->views); i++) {
		free(sink->views[i].labels);
		free(sink->views[i].begins);
		free(sink->views[i].counts);
		free(sink->views[i].hashes);
	}
}

void write_sink_begin(struct write_sink *sink, int64_t time_ms)
{
	write_batch_reset(&sink->batch);
	forget_rows(sink);
	sink->time_ms = time_ms;
	sink->error = 0;
}

int write_sink_finish(struct write_sink *sink)
{
	hand_over(sink);
	return sink->error;
}
