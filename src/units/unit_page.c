// SPDX-License-Identifier: Apache-2.0
#include "units/unit_page.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "samples/exposition.h"

void unit_page_begin(struct unit_page *page, const struct unit_rule *rule)
{
	page->rule = rule;
	strbuf_reset(&page->lines);
	page->line_at = 0;
	page->is_other = false;
}

void unit_page_release(struct unit_page *page)
{
	strbuf_release(&page->lines);
}

/* Can the line that begins so be of the counter? @is_whole: no more of it comes. */
static bool may_count(const struct unit_page *page, const char *line, size_t len, bool is_whole)
{
	const char *name = page->rule->metric;
	size_t name_len = strlen(name);

	if (len <= name_len)
		return !is_whole && memcmp(line, name, len) == 0;
	return memcmp(line, name, name_len) == 0 && strchr("{ \t", line[name_len]) != NULL;
}

static size_t line_len(const struct unit_page *page)
{
	return page->lines.len - page->line_at;
}

static void drop_line(struct unit_page *page)
{
	page->lines.len = page->line_at;
}

static void end_line(struct unit_page *page)
{
	const char *line = page->lines.data ? page->lines.data + page->line_at : "";

	if (page->is_other || line_len(page) == 0 || !may_count(page, line, line_len(page), true))
		drop_line(page);
	else
		strbuf_add_char(&page->lines, '\n');
	page->line_at = page->lines.len;
	page->is_other = false;
}

/* A part of a line, without its end. */
static int add_part(struct unit_page *page, const char *bytes, size_t len)
{
	if (page->is_other || len == 0)
		return 0;
	if (line_len(page) + len > UNIT_LINE_MAX) {
		/* Only as much of it as shows whose line it is. */
		len = line_len(page) < UNIT_METRIC_MAX + 1 ? UNIT_METRIC_MAX + 1 - line_len(page)
							   : 0;
		strbuf_add(&page->lines, bytes, len);
		if (strbuf_error(&page->lines) == 0 &&
		    may_count(page, page->lines.data + page->line_at, line_len(page), false))
			return -EMSGSIZE;
	} else {
		strbuf_add(&page->lines, bytes, len);
	}
	if (strbuf_error(&page->lines) < 0)
		return -ENOMEM;
	if (!may_count(page, page->lines.data + page->line_at, line_len(page), false)) {
		page->is_other = true;
		drop_line(page);
	}
	return page->lines.len > UNIT_LINES_MAX ? -EMSGSIZE : 0;
}

int unit_page_add(struct unit_page *page, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t part = newline ? (size_t)(newline - bytes) : len;
		int r = add_part(page, bytes, part);

		if (r < 0)
			return r;
		if (!newline)
			return 0;
		end_line(page);
		if (strbuf_error(&page->lines) < 0)
			return -ENOMEM;
		bytes += part + 1;
		len -= part + 1;
	}
	return 0;
}

struct reading {
	const struct unit_rule *rule;
	struct unit_series *series;
	bool counts;
	uint64_t key;
	int error;
};

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct reading *reading = userdata;

	reading->counts = unit_rule_matches(reading->rule, labels);
	reading->key = HASH64_START;
	for (size_t i = 1; i < labels->count; i++) { /* 0 is the name */
		reading->key = hash64_text(reading->key, labels->name[i]);
		reading->key = hash64_byte(reading->key, 0);
		reading->key = hash64_text(reading->key, labels->value[i]);
		reading->key = hash64_byte(reading->key, 0);
	}
	return 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	struct reading *reading = userdata;

	if (reading->counts)
		reading->error = unit_series_add(reading->series, reading->key, point->value);
	return reading->error;
}

int unit_series_fault(int error, struct diag *diag)
{
	switch (error) {
	case -ERANGE:
		return diag_set(diag, error, "a value is no counter's: it must be from 0 to 1e12");
	case -EEXIST:
		return diag_set(diag, error, "a series has two values");
	case -E2BIG:
		return diag_set(diag, error, "the counter has more than %d series: match= fewer",
				UNIT_SERIES_MAX);
	case -ENODATA:
		return diag_set(diag, error,
				"there is no series of the counter that match= "
				"leaves");
	default:
		return diag_set(diag, error, "%s", strerrordesc_np(-error));
	}
}

int unit_page_end(struct unit_page *page, struct unit_series *series, struct diag *diag)
{
	struct reading reading = { .rule = page->rule, .series = series };
	const struct series_sink sink = { take_series, take_point, &reading };
	int r;

	end_line(page); /* a page may end without a newline */
	if (strbuf_error(&page->lines) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (page->lines.len == 0)
		return diag_set(diag, -ENODATA, "the page has no series %s", page->rule->metric);
	r = exposition_read(page->lines.data, page->lines.len, 0, &sink, diag);
	return reading.error < 0 ? unit_series_fault(reading.error, diag) : r;
}
