// SPDX-License-Identifier: Apache-2.0
#include "modelling/points_csv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "samples/series_reader.h"

#define USEC_PER_SEC 1000000
#define PATH_SIZE    4096

struct points_csv {
	FILE *file;
	struct strbuf metric, labels; /* cells of the series that is read */
};

/* Text within the quotes of a cell. */
static void add_quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *text);
	}
}

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct points_csv *csv = userdata;
	bool first = true;

	strbuf_reset(&csv->metric);
	strbuf_reset(&csv->labels);
	strbuf_add_char(&csv->metric, '"');
	add_quoted(&csv->metric, series_label(labels, "__name__"));
	strbuf_add_char(&csv->metric, '"');
	strbuf_add_char(&csv->labels, '"');
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->name[i], "__name__") == 0)
			continue;
		strbuf_add_str(&csv->labels, first ? "" : ";");
		add_quoted(&csv->labels, labels->name[i]);
		strbuf_add_char(&csv->labels, '=');
		add_quoted(&csv->labels, labels->value[i]);
		first = false;
	}
	strbuf_add_char(&csv->labels, '"');
	return strbuf_error(&csv->metric) < 0 || strbuf_error(&csv->labels) < 0 ? -EBADMSG : 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	const struct points_csv *csv = userdata;

	return fprintf(csv->file, "%s,%lld.%03d,%s,%s\n", csv->metric.data,
		       (long long)(point->time_us / USEC_PER_SEC),
		       (int)(point->time_us % USEC_PER_SEC / 1000), point->text,
		       csv->labels.data) < 0
		       ? -EBADMSG
		       : 0;
}

int points_csv_write(const char *path, const char *csv, struct diag *diag)
{
	struct points_csv points = { .metric = STRBUF_INIT };
	const struct series_sink sink = { take_series, take_point, &points };
	char part[PATH_SIZE];
	int r;

	if (snprintf(part, sizeof(part), "%s.part", csv) >= (int)sizeof(part))
		return diag_set(diag, -ENAMETOOLONG, "%.200s…: the name is too long", csv);
	points.file = fopen(part, "we");
	if (!points.file)
		return diag_set(diag, -errno, "%s: cannot be written: %s", part,
				strerrordesc_np(errno));
	r = fputs("metric,timestamp,value,labels\n", points.file) < 0
		    ? -EBADMSG
		    : series_read_file(path, &sink, diag);
	if (fclose(points.file) != 0 && r == 0)
		r = -EBADMSG;
	strbuf_release(&points.metric);
	strbuf_release(&points.labels);
	if (r == 0 && rename(part, csv) < 0)
		r = -EBADMSG;
	return r == -EBADMSG ? diag_set(diag, -EIO, "%s: cannot be written", csv) : r;
}
