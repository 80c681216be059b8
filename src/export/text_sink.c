// SPDX-License-Identifier: Apache-2.0
/*
 * Values are integers with a decimal point put in: no double stands between a counter and its text.
 * The hot rows are written by row_lines.c; what is here serves the few hundred samples of the node
 * and of Kepler itself.
 */
#include "export/text_sink.h"

#include <stdio.h>

#include "base/num.h"
#include "export/label_escape.h"

static const char *type_name(enum family_type type, bool openmetrics)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_HISTOGRAM:
		return "histogram";
	case FAMILY_INFO:
		return openmetrics ? "info" : "gauge";
	case FAMILY_GAUGE:
	default:
		return "gauge";
	}
}

static void head_line(struct text_sink *text, const char *what, const char *value)
{
	strbuf_add_str(text->out, what);
	strbuf_add_str(text->out, text->name);
	if (!text->openmetrics)
		strbuf_add_str(text->out, family_suffix(text->family));
	strbuf_add_char(text->out, ' ');
	strbuf_add_str(text->out, value);
	strbuf_add_char(text->out, '\n');
}

void text_sink_head(struct text_sink *text)
{
	if (text->headed)
		return;
	text->headed = true;
	head_line(text, "# HELP ", text->family->help);
	head_line(text, "# TYPE ", type_name(text->family->type, text->openmetrics));
	if (text->openmetrics && *text->family->unit)
		head_line(text, "# UNIT ", text->family->unit);
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
		label_escape(out, labels->labels[i].value, strlen(labels->labels[i].value));
		strbuf_add_char(out, '"');
	}
}

/* A sample's name and labels, and the blank behind them; @le is one more label, or NULL. */
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

static void add_line(struct text_sink *text, const char *suffix, const struct point *point,
		     const char *le, const struct value *value)
{
	char digits[FORMAT_SCALED_MAX + FORMAT_DOUBLE_MAX];

	add_name(text, suffix, point, le);
	strbuf_add(text->out, digits,
		   value->is_real ? format_double(digits, value->real)
				  : format_scaled(digits, value->integer, value->decimals));
	strbuf_add_char(text->out, '\n');
}

static struct value created_value(const struct point *point)
{
	int64_t created_ms = point->created_ms;

	return (struct value){ .integer = created_ms > 0 ? (uint64_t)created_ms : 0,
			       .decimals = 3 };
}

/*
 * Canonical numbers: OpenMetrics wants "1.0" where the text format has "1". Unused buckets at the
 * end have the bound 0.
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
		if (text->openmetrics && !strpbrk(le, ".eEn"))
			memcpy(le + len, ".0", 3);
		cumulative.integer += histogram->counts[i];
		add_line(text, "_bucket", point, le, &cumulative);
	}
	add_line(text, "_bucket", point, "+Inf", &count);
	add_line(text, "_sum", point, NULL, &sum);
	add_line(text, "_count", point, NULL, &count);
}

static void point(struct sink *sink, const struct point *point)
{
	struct text_sink *text = (struct text_sink *)sink;
	enum family_type type = text->family->type;
	struct value created = created_value(point);

	text_sink_head(text);
	if (type == FAMILY_HISTOGRAM)
		add_histogram(text, point);
	else
		add_line(text, family_suffix(text->family), point, NULL, &point->value);
	if (text->created && (type == FAMILY_HISTOGRAM || type == FAMILY_COUNTER))
		add_line(text, "_created", point, NULL, &created);
}

void text_sink_init(struct text_sink *text, struct strbuf *out, bool openmetrics, bool created)
{
	*text = (struct text_sink){ .sink = { family, point, text_sink_rows },
				    .out = out,
				    .openmetrics = openmetrics,
				    .created = created && openmetrics };
}

int text_sink_finish(struct text_sink *text)
{
	if (text->openmetrics)
		strbuf_add_str(text->out, "# EOF\n");
	if (strbuf_error(&text->scratch) < 0)
		text->out->failed = true;
	strbuf_release(&text->scratch);
	return strbuf_error(text->out);
}

/* Two digits a step: what divides is the value's only long chain, and rows have ten digits. */
static size_t put_digits(char *end, uint64_t value)
{
	char *at = end;

	while (value >= 10) {
		unsigned pair = (unsigned)(value % 100);

		value /= 100;
		*--at = (char)('0' + pair % 10);
		*--at = (char)('0' + pair / 10);
	}
	if (value > 0 || at == end)
		*--at = (char)('0' + value);
	return (size_t)(end - at);
}

size_t format_scaled(char *buf, uint64_t value, unsigned decimals)
{
	char digits[FORMAT_U64_MAX + FORMAT_DECIMALS_MAX];
	char *end = digits + sizeof(digits);
	size_t len = put_digits(end, value), whole;

	while (len <= decimals)
		end[-(ptrdiff_t)++len] = '0';
	whole = len - decimals;
	memcpy(buf, end - len, whole);
	while (decimals > 0 && end[-1] == '0') { /* trailing zeros say nothing */
		end--;
		decimals--;
	}
	if (!decimals)
		return whole;
	buf[whole] = '.';
	memcpy(buf + whole + 1, end - decimals, decimals);
	return whole + 1 + decimals;
}

size_t format_created(char *buf, int64_t created_ms)
{
	return format_scaled(buf, created_ms > 0 ? (uint64_t)created_ms : 0, 3);
}
