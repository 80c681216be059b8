// SPDX-License-Identifier: Apache-2.0
#include "export/file/line_sink.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "export/label_escape.h"
#include "export/text_sink.h"

void line_labels_json(struct strbuf *out, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		strbuf_addf(out, "%s\"%s\":\"", i ? "," : "", labels->labels[i].name);
		label_clean_value(out, &labels->labels[i], true);
		strbuf_add_char(out, '"');
	}
}

/* The same within a quoted field: each quote twice. */
void line_labels_csv(struct strbuf *out, const struct labels *labels)
{
	struct strbuf json = STRBUF_INIT;

	line_labels_json(&json, labels);
	out->failed |= json.failed;
	for (size_t i = 0; i < json.len; i++) {
		if (json.data[i] == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, json.data[i]);
	}
	strbuf_release(&json);
}

static void add_labels(const struct line_sink *lines, struct strbuf *out,
		       const struct labels *labels)
{
	if (lines->is_csv)
		line_labels_csv(out, labels);
	else
		line_labels_json(out, labels);
}

static void family(struct sink *sink, const struct family *family, const char *name)
{
	struct line_sink *lines = (struct line_sink *)sink;

	lines->family = family;
	(void)snprintf(lines->name, sizeof(lines->name), "%s%s", name, family_suffix(family));
	lines->is_kept = lines->keep_count == 0;
	for (size_t i = 0; i < lines->keep_count && !lines->is_kept; i++)
		lines->is_kept = fnmatch(lines->keep[i], lines->name, 0) == 0;
}

/* Up to the labels. */
static void begin_line(struct line_sink *lines, const char *suffix)
{
	strbuf_addf(lines->out,
		    lines->is_csv ? "%s,%s%s,\"{"
				  : "{\"time\":\"%s\",\"name\":\"%s%s\",\"labels\":{",
		    lines->time, lines->name, suffix);
}

static void end_line(struct line_sink *lines, const struct value *value)
{
	char digits[FORMAT_SCALED_MAX + FORMAT_DOUBLE_MAX];
	size_t len = 0;

	if (!value->is_real)
		len = format_scaled(digits, value->integer, value->decimals);
	else if (isfinite(value->real))
		len = format_double(digits, value->real);
	strbuf_add_str(lines->out, lines->is_csv ? "}\"," : "},\"value\":");
	strbuf_add(lines->out, digits, len);
	if (!lines->is_csv)
		strbuf_add_str(lines->out, len ? "}" : "null}");
	strbuf_add_char(lines->out, '\n');
	lines->lines++;
}

static void add_line(struct line_sink *lines, const char *suffix, const struct point *point,
		     const struct value *value)
{
	begin_line(lines, suffix);
	if (point->row) {
		strbuf_add(lines->out, point->row->text, point->row->len);
		if (point->labels.count)
			strbuf_add_char(lines->out, ',');
	}
	add_labels(lines, lines->out, &point->labels);
	end_line(lines, value);
}

static void point(struct sink *sink, const struct point *point)
{
	struct line_sink *lines = (struct line_sink *)sink;

	if (!lines->is_kept)
		return;
	if (point->histogram) {
		const struct value count = { .integer = point->histogram->count };
		const struct value sum = { .is_real = true, .real = point->histogram->sum };

		add_line(lines, "_count", point, &count);
		add_line(lines, "_sum", point, &sum);
	} else {
		add_line(lines, "", point, &point->value);
	}
}

static void add_row(struct line_sink *lines, const struct row_block *block, uint32_t row)
{
	const struct row_view *view = block->view;
	const struct row_text *text = &view->texts[block->names][row];
	const struct labels *end = &block->end[view->rows[row].ended ? 1 : 0];
	const struct value value = { .integer = row_block_value(block, row),
				     .decimals = block->decimals };

	if (!text->text)
		return; /* it is in another row with the same labels */
	begin_line(lines, "");
	strbuf_add(lines->out, text->text, text->len);
	if (end->count)
		strbuf_add_char(lines->out, ',');
	add_labels(lines, lines->out, end);
	end_line(lines, &value);
}

static void rows(struct sink *sink, const struct row_block *block)
{
	struct line_sink *lines = (struct line_sink *)sink;

	for (uint32_t row = 0; lines->is_kept && row < block->view->count; row++)
		add_row(lines, block, row);
}

void line_sink_init(struct line_sink *lines, bool is_csv, int64_t time_ms, struct strbuf *out)
{
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm = { 0 };
	char whole[24];

	*lines =
		(struct line_sink){ .sink = { family, point, rows }, .out = out, .is_csv = is_csv };
	(void)gmtime_r(&seconds, &tm);
	(void)strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(lines->time, sizeof(lines->time), "%s.%03uZ", whole,
		       (unsigned)(time_ms % 1000));
}
