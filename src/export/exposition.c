// SPDX-License-Identifier: Apache-2.0
/*
 * Values are integers with a decimal point put in: no double stands between a counter and its text.
 * The hot rows are written by row_lines.c; what is here serves the few hundred samples of the node
 * and of Kepler itself.
 */
#include "export/exposition.h"

#include <stdio.h>

#include "base/num.h"
#include "export/label_escape.h"

/*
 * Zone names come from one table of ours (meter), but a name in the exposition must hold whatever
 * comes.
 */
static size_t add_zone_name(char *to, size_t room, const char *zone)
{
	size_t len = 0;

	for (; len < room && zone[len]; len++) {
		char c = zone[len];
		bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		to[len] = fine ? c : '_';
	}
	return len;
}

void family_begin(struct exposition_writer *w, const struct metric *metric, const char *zone)
{
	const char *hole = strstr(metric->name, METRIC_ZONE);
	size_t len, rest;

	w->metric = metric;
	w->headed = false;
	if (!hole) {
		(void)snprintf(w->family, sizeof(w->family), "%s", metric->name);
		return;
	}
	len = (size_t)(hole - metric->name);
	rest = strlen(hole + strlen(METRIC_ZONE));
	memcpy(w->family, metric->name, len); /* the table's names are short: a test says so */
	len += add_zone_name(w->family + len, sizeof(w->family) - 1 - len - rest, zone);
	memcpy(w->family + len, hole + strlen(METRIC_ZONE), rest + 1);
}

const char *family_suffix(const struct metric *metric)
{
	if (metric->type == METRIC_COUNTER)
		return "_total";
	return metric->type == METRIC_INFO ? "_info" : "";
}

static const char *type_name(enum metric_type type, enum exposition exposition)
{
	switch (type) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_HISTOGRAM:
		return "histogram";
	case METRIC_INFO:
		return exposition == EXPOSITION_OPENMETRICS ? "info" : "gauge";
	case METRIC_GAUGE:
	default:
		return "gauge";
	}
}

static void head_line(struct exposition_writer *w, const char *what, const char *text)
{
	strbuf_add_str(w->out, what);
	strbuf_add_str(w->out, w->family);
	if (w->exposition == EXPOSITION_TEXT)
		strbuf_add_str(w->out, family_suffix(w->metric));
	strbuf_add_char(w->out, ' ');
	strbuf_add_str(w->out, text);
	strbuf_add_char(w->out, '\n');
}

void family_head(struct exposition_writer *w)
{
	if (w->headed)
		return;
	w->headed = true;
	head_line(w, "# HELP ", w->metric->help);
	head_line(w, "# TYPE ", type_name(w->metric->type, w->exposition));
	if (w->exposition == EXPOSITION_OPENMETRICS && *w->metric->unit)
		head_line(w, "# UNIT ", w->metric->unit);
}

void sample_begin(struct exposition_writer *w)
{
	family_head(w);
	strbuf_add_str(w->out, w->family);
	strbuf_add_str(w->out, family_suffix(w->metric));
	w->labels_at = w->out->len;
	w->labelled = false;
}

void sample_label(struct exposition_writer *w, const char *name, const char *value)
{
	strbuf_add_char(w->out, w->labelled ? ',' : '{');
	w->labelled = true;
	strbuf_add_str(w->out, name);
	strbuf_add(w->out, "=\"", 2);
	label_escape(w->out, value, strlen(value));
	strbuf_add_char(w->out, '"');
}

void sample_labels(struct exposition_writer *w, const char *text, size_t len)
{
	strbuf_add_char(w->out, w->labelled ? ',' : '{');
	w->labelled = true;
	strbuf_add(w->out, text, len);
}

size_t format_scaled(char *buf, uint64_t value, unsigned decimals)
{
	char digits[FORMAT_U64_MAX + 1];
	size_t len = 0, whole;

	while (decimals > 0 && value % 10 == 0) { /* trailing zeros say nothing */
		value /= 10;
		decimals--;
	}
	do {
		digits[sizeof(digits) - ++len] = (char)('0' + value % 10);
		value /= 10;
	} while (value || len <= decimals);
	whole = len - decimals;
	memcpy(buf, digits + sizeof(digits) - len, whole);
	if (!decimals)
		return len;
	buf[whole] = '.';
	memcpy(buf + whole + 1, digits + sizeof(digits) - decimals, decimals);
	return len + 1;
}

size_t format_created(char *buf, int64_t created_ms)
{
	return format_scaled(buf, created_ms > 0 ? (uint64_t)created_ms : 0, 3);
}

static void end_line(struct exposition_writer *w, const char *value, size_t len, int64_t created_ms)
{
	char created[FORMAT_SCALED_MAX];
	size_t labels_len;

	if (w->labelled)
		strbuf_add_char(w->out, '}');
	labels_len = w->out->len - w->labels_at;
	strbuf_add_char(w->out, ' ');
	strbuf_add(w->out, value, len);
	strbuf_add_char(w->out, '\n');
	if (!w->created || w->metric->type != METRIC_COUNTER)
		return;
	strbuf_add_str(w->out, w->family);
	strbuf_add_str(w->out, "_created");
	if (strbuf_reserve(w->out, labels_len)) /* so that it does not move while it is copied */
		strbuf_add(w->out, w->out->data + w->labels_at, labels_len);
	strbuf_add_char(w->out, ' ');
	strbuf_add(w->out, created, format_created(created, created_ms));
	strbuf_add_char(w->out, '\n');
}

void sample_end(struct exposition_writer *w, uint64_t value, unsigned decimals, int64_t created_ms)
{
	char text[FORMAT_SCALED_MAX];

	end_line(w, text, format_scaled(text, value, decimals), created_ms);
}

void sample_end_double(struct exposition_writer *w, double value, int64_t created_ms)
{
	char text[FORMAT_DOUBLE_MAX];

	end_line(w, text, format_double(text, value), created_ms);
}
