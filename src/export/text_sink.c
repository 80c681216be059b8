// SPDX-License-Identifier: Apache-2.0
/*
 * Values are integers with a decimal point inserted: no counter passes through a double. The node
 * and Kepler itself have a few hundred points; rows, thousands a family, are the hot path. A row's
 * line is copied from four pieces (name, the row's labels, the end of the labels, the value); space
 * is reserved once a row, and only the digits are formatted.
 */
#include "export/text_sink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "export/label_escape.h"

/* Two digits a step: divisions depend on each other, and rows have ten digits. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
			    "34353637383940414243444546474849505152535455565758596061626364656667"
			    "6869707172737475767778798081828384858687888990919293949596979899";

static void put_whole(char *end, uint64_t value)
{
	for (; value >= 100; value /= 100)
		memcpy(end -= 2, pairs + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(end - 2, pairs + 2 * value, 2);
	else
		end[-1] = (char)('0' + value);
}

/* The last @count digits, zeros included. */
static void put_fraction(char *end, uint32_t value, unsigned count)
{
	for (; count >= 2; count -= 2, value /= 100)
		memcpy(end -= 2, pairs + 2 * (value % 100), 2);
	if (count > 0)
		end[-1] = (char)('0' + value % 10);
}

static size_t count_digits(uint64_t value)
{
	size_t count = 1;

	for (; value >= 1000; value /= 1000)
		count += 3;
	return count + (value >= 10) + (value >= 100);
}

/* Digits go where they belong: to read again what was just written would wait for it. */
size_t format_scaled(char *buf, uint64_t value, unsigned decimals)
{
	static const uint32_t scales[FORMAT_DECIMALS_MAX + 1] = {
		1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
	};
	/* Energy and power have six: a constant needs no division. */
	uint64_t whole = decimals == 6 ? value / 1000000 : value / scales[decimals];
	uint32_t fraction = (uint32_t)(value - whole * scales[decimals]);
	size_t len = count_digits(whole);

	put_whole(buf + len, whole);
	if (!fraction)
		return len;
	buf[len++] = '.';
	put_fraction(buf + len + decimals, fraction, decimals);
	len += decimals;
	while (buf[len - 1] == '0') /* trailing zeros say nothing */
		len--;
	return len;
}

size_t format_created(char *buf, int64_t created_ms)
{
	return format_scaled(buf, created_ms > 0 ? (uint64_t)created_ms : 0, 3);
}

#define ST " st@" /* OpenMetrics 2.0: the time at which a counter began follows */

static const char *type_name(enum family_type type, enum text_dialect dialect)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_HISTOGRAM:
		return "histogram";
	case FAMILY_INFO:
		return dialect == TEXT_PROMETHEUS ? "gauge" : "info";
	case FAMILY_GAUGE:
	default:
		return "gauge";
	}
}

static void begin_head_line(struct text_sink *text, const char *what)
{
	strbuf_add_str(text->out, what);
	strbuf_add_str(text->out, text->name);
	if (text->dialect != TEXT_OPENMETRICS_1)
		strbuf_add_str(text->out, family_suffix(text->family));
	strbuf_add_char(text->out, ' ');
}

static void head_line(struct text_sink *text, const char *what, const char *value)
{
	begin_head_line(text, what);
	strbuf_add_str(text->out, value);
	strbuf_add_char(text->out, '\n');
}

/* For texts of the catalog, which have neither a newline nor a backslash in them. */
static void help_line(struct text_sink *text)
{
	begin_head_line(text, "# HELP ");
	for (const char *c = text->family->help; *c; c++) {
		if (*c == '"' && text->dialect != TEXT_PROMETHEUS)
			strbuf_add_char(text->out, '\\');
		strbuf_add_char(text->out, *c);
	}
	strbuf_add_char(text->out, '\n');
}

static void add_head(struct text_sink *text)
{
	if (text->headed)
		return;
	text->headed = true;
	if (text->dialect != TEXT_OPENMETRICS_2)
		help_line(text);
	head_line(text, "# TYPE ", type_name(text->family->type, text->dialect));
	if (text->dialect != TEXT_PROMETHEUS && *text->family->unit)
		head_line(text, "# UNIT ", text->family->unit);
	if (text->dialect == TEXT_OPENMETRICS_2)
		help_line(text);
}

static void family(struct sink *sink, const struct family *family, const char *name)
{
	struct text_sink *text = (struct text_sink *)sink;

	text->family = family;
	text->headed = false;
	(void)snprintf(text->name, sizeof(text->name), "%s", name);
}

void text_labels(struct strbuf *out, const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		strbuf_add_str(out, labels->labels[i].name);
		strbuf_add(out, "=\"", 2);
		label_clean_value(out, &labels->labels[i], true);
		strbuf_add_char(out, '"');
	}
}

/* Adds a sample's name, its labels and a blank; @le is one more label, or NULL. */
static void add_name(struct text_sink *text, const char *suffix, const struct point *point,
		     const char *le)
{
	const struct row_text *row = point->row;
	struct strbuf *out = text->out;
	bool any = row || point->labels.count > 0;

	strbuf_add_str(out, text->name);
	strbuf_add_str(out, suffix);
	if (any || le)
		strbuf_add_char(out, '{');
	if (row) {
		strbuf_add(out, row->text, row->len);
		if (point->labels.count > 0)
			strbuf_add_char(out, ',');
	}
	text_labels(out, &point->labels);
	if (le)
		strbuf_addf(out, "%sle=\"%s\"", any ? "," : "", le);
	strbuf_add_str(out, any || le ? "} " : " ");
}

static void add_value(struct strbuf *out, const struct value *value)
{
	char digits[FORMAT_SCALED_MAX + FORMAT_DOUBLE_MAX];

	strbuf_add(out, digits,
		   value->is_real ? format_double(digits, value->real)
				  : format_scaled(digits, value->integer, value->decimals));
}

static void add_line(struct text_sink *text, const char *suffix, const struct point *point,
		     const char *le, const struct value *value)
{
	add_name(text, suffix, point, le);
	add_value(text->out, value);
	strbuf_add_char(text->out, '\n');
}

static struct value created_value(const struct point *point)
{
	int64_t created_ms = point->created_ms;

	return (struct value){ .integer = created_ms > 0 ? (uint64_t)created_ms : 0,
			       .decimals = 3 };
}

/*
 * Canonical numbers: OpenMetrics requires "1.0" where the text format has "1". Unused buckets at
 * the end have the bound 0.
 */
static void add_histogram(struct text_sink *text, const struct point *point)
{
	const struct histogram *histogram = point->histogram;
	struct value count = { .integer = histogram->count };
	struct value sum = { .is_real = true, .real = histogram->sum };
	struct value cumulative = { 0 };

	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		char le[FORMAT_DOUBLE_MAX + 3];
		size_t len = format_double(le, histogram->bounds[i]);

		le[len] = '\0';
		if (strcmp(le, "+Inf") == 0)
			break;
		if (text->dialect == TEXT_OPENMETRICS_1 && !strpbrk(le, ".eEn"))
			memcpy(le + len, ".0", 3);
		cumulative.integer += histogram->counts[i];
		add_line(text, "_bucket", point, le, &cumulative);
	}
	add_line(text, "_bucket", point, "+Inf", &count);
	add_line(text, "_sum", point, NULL, &sum);
	add_line(text, "_count", point, NULL, &count);
}

/* The value of a histogram in OpenMetrics 2.0. */
static void add_composite(struct strbuf *out, const struct histogram *histogram)
{
	const struct value count = { .integer = histogram->count };
	const struct value sum = { .is_real = true, .real = histogram->sum };
	struct value cumulative = { 0 };

	strbuf_add_str(out, "{count:");
	add_value(out, &count);
	strbuf_add_str(out, ",sum:");
	add_value(out, &sum);
	strbuf_add_str(out, ",bucket:[");
	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		const struct value bound = { .is_real = true, .real = histogram->bounds[i] };

		if (isinf(histogram->bounds[i]))
			break;
		cumulative.integer += histogram->counts[i];
		add_value(out, &bound);
		strbuf_add_char(out, ':');
		add_value(out, &cumulative);
		strbuf_add_char(out, ',');
	}
	strbuf_add_str(out, "+Inf:");
	add_value(out, &count);
	strbuf_add_str(out, "]}");
}

static void point_2(struct text_sink *text, const struct point *point)
{
	enum family_type type = text->family->type;
	const struct value created = created_value(point);

	add_name(text, family_suffix(text->family), point, NULL);
	if (type == FAMILY_HISTOGRAM)
		add_composite(text->out, point->histogram);
	else
		add_value(text->out, &point->value);
	if (type == FAMILY_HISTOGRAM || type == FAMILY_COUNTER) {
		strbuf_add_str(text->out, ST);
		add_value(text->out, &created);
	}
	strbuf_add_char(text->out, '\n');
}

static void point(struct sink *sink, const struct point *point)
{
	struct text_sink *text = (struct text_sink *)sink;
	enum family_type type = text->family->type;
	struct value created = created_value(point);

	add_head(text);
	if (text->dialect == TEXT_OPENMETRICS_2)
		point_2(text, point);
	else if (type == FAMILY_HISTOGRAM)
		add_histogram(text, point);
	else
		add_line(text, family_suffix(text->family), point, NULL, &point->value);
	if (text->created && (type == FAMILY_HISTOGRAM || type == FAMILY_COUNTER))
		add_line(text, "_created", point, NULL, &created);
}

/* ---- the hot path: rows ---- */

static char *put(char *at, const char *piece, size_t len)
{
	memcpy(at, piece, len);
	return at + len;
}

struct piece {
	const char *text;
	size_t len;
};

static struct piece piece_of(const char *text)
{
	return (struct piece){ text, strlen(text) };
}

static char *put_line(char *at, struct piece name, const struct row_text *labels, struct piece end)
{
	at = put(at, name.text, name.len);
	at = put(at, labels->text, labels->len);
	return put(at, end.text, end.len);
}

/* Writes x_total{ for its rows' lines. */
static struct piece name_piece(const struct text_sink *text, const char *suffix, char *buf,
			       size_t size)
{
	int len = snprintf(buf, size, "%s%s{", text->name, suffix);

	return (struct piece){ buf, (size_t)len };
}

/* Appends ,package="0",…} with a blank and a terminator; returns where it begins. */
static size_t add_end(struct strbuf *scratch, const struct labels *labels)
{
	size_t begin = scratch->len;

	if (labels->count > 0)
		strbuf_add_char(scratch, ',');
	text_labels(scratch, labels);
	strbuf_add(scratch, "} ", 3);
	return begin;
}

static void add_lines(struct text_sink *text, const struct row_block *block,
		      const struct piece ends[2])
{
	const struct row_view *view = block->view;
	const struct row_text *texts = view->texts[block->names];
	bool counter = text->family->type == FAMILY_COUNTER;
	bool created = text->created && counter;
	bool start = text->dialect == TEXT_OPENMETRICS_2 && counter;
	char name[FAMILY_NAME_MAX + 16], created_name[FAMILY_NAME_MAX + 16];
	struct piece sample = name_piece(text, family_suffix(text->family), name, sizeof(name));
	struct piece birth = name_piece(text, "_created", created_name, sizeof(created_name));
	struct strbuf *out = text->out;

	add_head(text);
	for (uint32_t row = 0; row < view->count; row++) {
		struct piece end = ends[view->rows[row].ended];
		char *at;

		if (!texts[row].text)
			continue; /* hangs on an earlier row */
		if (!strbuf_reserve(out, 2 * (birth.len + texts[row].len + end.len +
					      FORMAT_SCALED_MAX + sizeof(ST))))
			return;
		at = put_line(out->data + out->len, sample, &texts[row], end);
		at += format_scaled(at, row_block_value(block, row), block->decimals);
		if (start) {
			at = put(at, ST, strlen(ST));
			at += format_created(at, view->rows[row].created_ms);
		}
		*at++ = '\n';
		if (created) {
			at = put_line(at, birth, &texts[row], end);
			at += format_created(at, view->rows[row].created_ms);
			*at++ = '\n';
		}
		out->len = (size_t)(at - out->data);
	}
	out->data[out->len] = '\0';
}

static void rows(struct sink *sink, const struct row_block *block)
{
	struct text_sink *text = (struct text_sink *)sink;
	struct strbuf *scratch = &text->scratch;
	size_t living, ended;

	strbuf_reset(scratch);
	living = add_end(scratch, &block->end[0]);
	ended = living;
	if (block->end[1].labels != block->end[0].labels)
		ended = add_end(scratch, &block->end[1]);
	if (strbuf_error(scratch) < 0)
		return;
	add_lines(text, block,
		  (struct piece[2]){ piece_of(scratch->data + living),
				     piece_of(scratch->data + ended) });
}

void text_sink_init(struct text_sink *text, struct strbuf *out, enum text_dialect dialect,
		    bool created)
{
	*text = (struct text_sink){ .sink = { family, point, rows },
				    .out = out,
				    .dialect = dialect,
				    .created = created && dialect == TEXT_OPENMETRICS_1 };
}

int text_sink_finish(struct text_sink *text)
{
	if (text->dialect != TEXT_PROMETHEUS)
		strbuf_add_str(text->out, "# EOF\n");
	if (strbuf_error(&text->scratch) < 0)
		text->out->failed = true;
	strbuf_release(&text->scratch);
	return strbuf_error(text->out);
}
