// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/series_check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define COMPONENTS_MAX 4

/* Sources of energy, and the components that upstream takes from each. */
static const struct {
	const char *name;
	const char *components[COMPONENTS_MAX];
} sources[SERIES_CHECK_SOURCES] = {
	{ "rapl-sysfs", { "package", "core", "uncore", "dram" } },
	{ "rapl-msr", { "package", "core", "uncore", "dram" } },
	{ "trained_power_model", { "package", "core", "uncore", "dram" } },
	{ "acpi", { "platform" } },
	{ "hmc", { "platform" } },
	{ "redfish", { "platform" } },
};

/* ---- counting ---- */

static void tally_add(struct series_tally *tally, double value)
{
	tally->points++;
	if (isnan(value))
		return;
	tally->positive += value > 0;
	if (!tally->has_number || value > tally->highest)
		tally->highest = value;
	tally->has_number = true;
}

static struct series_metric *find_metric(const struct series_check *check, const char *name)
{
	for (size_t i = 0; i < check->count; i++) {
		if (strcmp(check->metrics[i].name, name) == 0)
			return &check->metrics[i];
	}
	return NULL;
}

static int add_metric(struct series_check *check, const char *name)
{
	struct series_metric fresh = { .name = NULL };

	if (check->count == SERIES_CHECK_METRICS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(check->metrics, check->size, check->count + 1) < 0)
		return -ENOMEM;
	fresh.name = strdup(name);
	if (!fresh.name)
		return -ENOMEM;
	check->metrics[check->count++] = fresh;
	check->metric = &check->metrics[check->count - 1];
	return 0;
}

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct series_check *check = userdata;
	const char *name = series_label(labels, "__name__");
	const char *source = series_label(labels, "source");

	check->is_of_pods =
		*check->benchmark && strstr(series_label(labels, "pod_name"), check->benchmark);
	check->source = 0;
	while (check->source < SERIES_CHECK_SOURCES &&
	       strcmp(source, sources[check->source].name) != 0)
		check->source++;
	check->metric = find_metric(check, name);
	return check->metric ? 0 : add_metric(check, name);
}

static int take_point(void *userdata, const struct series_point *point)
{
	struct series_check *check = userdata;

	tally_add(&check->metric->all, point->value);
	if (check->is_of_pods)
		tally_add(&check->metric->of_pods, point->value);
	if (check->source < SERIES_CHECK_SOURCES)
		tally_add(&check->metric->by_source[check->source], point->value);
	return 0;
}

struct series_sink series_check_sink(struct series_check *check)
{
	return (struct series_sink){ take_series, take_point, check };
}

int series_check_read(struct series_check *check, const char *path, struct diag *diag)
{
	const struct series_sink sink = series_check_sink(check);
	int r = series_read_file(path, &sink, diag);

	return r == -ENOMEM || r == -E2BIG
		       ? diag_set(diag, r, "%s: more than %d metrics, or out of memory", path,
				  SERIES_CHECK_METRICS_MAX)
		       : r;
}

void series_check_release(struct series_check *check)
{
	for (size_t i = 0; i < check->count; i++)
		free(check->metrics[i].name);
	free(check->metrics);
	*check = (struct series_check){ .benchmark = "" };
}

/* ---- the result ---- */

/* A line of it; @of is upstream's scenarioID. */
typedef void line_fn(struct strbuf *out, size_t number, const char *pod, const char *of,
		     const char *metric, const struct series_tally *tally);

static bool is_of_containers(const char *metric)
{
	return strstr(metric, "container");
}

static bool is_energy(const char *metric)
{
	return strstr(metric, "_joules");
}

/* Of the pods that are asked for, or of all where there are none of these. */
static const struct series_tally *of_containers(const struct series_metric *metric)
{
	return metric->of_pods.points ? &metric->of_pods : &metric->all;
}

static size_t add_energy(const struct series_check *check, size_t number, line_fn *line,
			 struct strbuf *out)
{
	static const struct series_tally none = { 0 };

	for (size_t s = 0; s < SERIES_CHECK_SOURCES; s++) {
		for (size_t c = 0; c < COMPONENTS_MAX && sources[s].components[c]; c++) {
			const struct series_metric *metric;
			char name[64];

			(void)snprintf(name, sizeof(name), "kepler_node_%s_joules_total",
				       sources[s].components[c]);
			metric = find_metric(check, name);
			line(out, number++, "", sources[s].name, name,
			     metric ? &metric->by_source[s] : &none);
		}
	}
	return number;
}

static void add_lines(const struct series_check *check, line_fn *line, struct strbuf *out)
{
	size_t number = 0;

	for (size_t i = 0; i < check->count; i++) {
		const struct series_metric *metric = &check->metrics[i];

		if (is_of_containers(metric->name))
			line(out, number++, check->benchmark, "", metric->name,
			     of_containers(metric));
	}
	number = add_energy(check, number, line, out);
	for (size_t i = 0; i < check->count; i++) {
		const struct series_metric *metric = &check->metrics[i];

		if (!is_of_containers(metric->name) && !is_energy(metric->name))
			line(out, number++, check->benchmark, "", metric->name, &metric->all);
	}
}

/* A cell that may hold commas and quotes. */
static void add_cell(struct strbuf *out, const char *text)
{
	bool quotes = strpbrk(text, ",\"\r\n");

	if (quotes)
		strbuf_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, *text);
	}
	if (quotes)
		strbuf_add_char(out, '"');
	strbuf_add_char(out, ',');
}

static void add_csv_line(struct strbuf *out, size_t number, const char *pod, const char *of,
			 const char *metric, const struct series_tally *tally)
{
	char highest[FORMAT_DOUBLE_MAX];

	strbuf_addf(out, "%zu,", number);
	add_cell(out, pod);
	add_cell(out, of);
	add_cell(out, metric);
	strbuf_addf(out, "%llu,%llu,", (unsigned long long)tally->points,
		    (unsigned long long)tally->positive);
	strbuf_add(out, highest, format_double(highest, tally->highest));
	strbuf_add_char(out, '\n');
}

void series_check_add_csv(const struct series_check *check, struct strbuf *out)
{
	strbuf_add_str(out, ",pod,scenarioID,query,count,>0,total\n");
	add_lines(check, add_csv_line, out);
}

static void add_table_line(struct strbuf *out, size_t number, const char *pod, const char *of,
			   const char *metric, const struct series_tally *tally)
{
	(void)number;
	(void)pod;
	if (!tally->points)
		return;
	strbuf_addf(out, "%-56s %-20s %10llu %10llu %14.6g\n", metric, of,
		    (unsigned long long)tally->points, (unsigned long long)tally->positive,
		    tally->highest);
}

void series_check_add_table(const struct series_check *check, struct strbuf *out)
{
	strbuf_addf(out, "%-56s %-20s %10s %10s %14s\n", "METRIC", "SOURCE", "POINTS", "ABOVE 0",
		    "HIGHEST");
	add_lines(check, add_table_line, out);
}
