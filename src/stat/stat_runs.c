// SPDX-License-Identifier: Apache-2.0
/*
 * The JSON of the runs has the keys of hyperfine's results (mean, stddev, times, ...), which are
 * about elapsed seconds, and as many about the energy.
 */
#include "stat/stat_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/text/json_scan.h"

#define CLEAR_PROBABILITY 0.05

static int reserve(struct stat_runs *runs)
{
	size_t room = runs->room ? 2 * runs->room : 16;

	if (runs->count < runs->room)
		return 0;
	if (ARRAY_RESIZE(runs->joules, room) < 0 || ARRAY_RESIZE(runs->seconds, room) < 0 ||
	    ARRAY_RESIZE(runs->cpu_seconds, room) < 0 || ARRAY_RESIZE(runs->statuses, room) < 0)
		return -ENOMEM;
	runs->room = room;
	return 0;
}

void stat_runs_release(struct stat_runs *runs)
{
	free(runs->joules);
	free(runs->seconds);
	free(runs->cpu_seconds);
	free(runs->statuses);
	*runs = (struct stat_runs){ .count = 0 };
}

/* A mean of @count values becomes the mean of these and @value. */
static void average(double *mean, double value, size_t count)
{
	*mean += (value - *mean) / (double)(count + 1);
}

static struct stat_zone *zone_like(struct stat_reading *reading, const struct stat_zone *zone)
{
	size_t i = 0;

	while (i < reading->zone_count && (strcmp(reading->zones[i].zone, zone->zone) != 0 ||
					   strcmp(reading->zones[i].mode, zone->mode) != 0 ||
					   strcmp(reading->zones[i].source, zone->source) != 0))
		i++;
	if (i == STAT_ZONES_MAX)
		return NULL;
	if (i == reading->zone_count) {
		reading->zones[reading->zone_count++] = *zone;
		reading->zones[i].joules = reading->zones[i].error_joules = 0;
	}
	return &reading->zones[i];
}

static struct stat_command *command_like(struct stat_reading *reading, const char *name)
{
	size_t i = 0;

	while (i < reading->command_count && strcmp(reading->commands[i].command, name) != 0)
		i++;
	if (i == STAT_COMMANDS_MAX)
		return NULL;
	if (i == reading->command_count) {
		reading->commands[reading->command_count++] = (struct stat_command){ .joules = 0 };
		memcpy(reading->commands[i].command, name, strlen(name) + 1);
	}
	return &reading->commands[i];
}

/* Those that a run lacks used nothing in it. */
static void average_parts(struct stat_reading *mean, const struct stat_reading *reading,
			  size_t count)
{
	double share = (double)count / (double)(count + 1), part = 1 / (double)(count + 1);

	for (size_t i = 0; i < mean->zone_count; i++) {
		mean->zones[i].joules *= share;
		mean->zones[i].error_joules *= share;
	}
	for (size_t i = 0; i < mean->command_count; i++) {
		mean->commands[i].joules *= share;
		mean->commands[i].cpu_seconds *= share;
	}
	for (size_t i = 0; i < reading->zone_count; i++) {
		struct stat_zone *zone = zone_like(mean, &reading->zones[i]);

		if (zone) {
			zone->joules += reading->zones[i].joules * part;
			zone->error_joules += reading->zones[i].error_joules * part;
			zone->is_late |= reading->zones[i].is_late;
		}
	}
	for (size_t i = 0; i < reading->command_count; i++) {
		struct stat_command *command = command_like(mean, reading->commands[i].command);

		if (command) {
			command->joules += reading->commands[i].joules * part;
			command->cpu_seconds += reading->commands[i].cpu_seconds * part;
			command->processes = reading->commands[i].processes;
		}
	}
}

static void take_mean(struct stat_runs *runs, const struct stat_result *result)
{
	struct stat_reading *mean = &runs->mean.reading;
	const struct stat_reading *reading = &result->reading;

	average(&runs->mean.elapsed_seconds, result->elapsed_seconds, runs->count);
	average(&runs->mean.overhead_seconds, result->overhead_seconds, runs->count);
	average(&runs->mean.missing_seconds, result->missing_seconds, runs->count);
	average(&mean->cpu_seconds, reading->cpu_seconds, runs->count);
	average_parts(mean, reading, runs->count);
	mean->processes = reading->processes;
	mean->short_processes = reading->short_processes;
	mean->rates = reading->rates;
	mean->missed += reading->missed;
	mean->left_count = reading->left_count;
	mean->left_named = reading->left_named;
	memcpy(mean->left, reading->left, sizeof(mean->left));
	runs->mean.exit_status = result->exit_status;
}

int stat_runs_add(struct stat_runs *runs, const struct stat_result *result)
{
	if (reserve(runs) < 0)
		return -ENOMEM;
	if (!runs->count)
		runs->mean = *result;
	else
		take_mean(runs, result);
	runs->joules[runs->count] = stat_result_joules(result);
	runs->seconds[runs->count] = result->elapsed_seconds;
	runs->cpu_seconds[runs->count] = result->reading.cpu_seconds;
	runs->statuses[runs->count] = result->exit_status;
	runs->count++;
	return 0;
}

static int read_joules(const json_t *array, struct stat_baseline *ret)
{
	size_t count = json_array_size(array);

	ret->joules = calloc(count, sizeof(*ret->joules));
	if (!ret->joules)
		return -ENOMEM;
	ret->count = count;
	for (size_t i = 0; i < count; i++)
		ret->joules[i] = json_number_value(json_array_get(array, i));
	return 0;
}

int stat_baseline_parse(const char *text, size_t len, struct stat_baseline *ret, struct diag *diag)
{
	json_error_t error;
	json_t *root = json_is_too_deep(text, len) ? NULL : json_loadb(text, len, 0, &error);
	const json_t *array = json_object_get(root, "joules_each");
	size_t count = json_array_size(array);
	int r;

	if (!count || count > RUNS_MAX)
		r = diag_set(diag, -EINVAL,
			     "not a result of kepler stat --save: it has no joules_each");
	else
		r = read_joules(array, ret);
	json_decref(root);
	return r;
}

/* ---- text ---- */

static void add_value_line(struct strbuf *out, double value, const char *unit, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf number = STRBUF_INIT;

	stat_add_value(&number, value);
	strbuf_addf(out, "%18s %-5s %-24s # ", number.data ? number.data : "", unit, name);
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void add_summary(struct strbuf *out, const struct run_summary *summary, const char *unit,
			const char *deviation_name, const char *median_name)
{
	add_value_line(out, summary->deviation, unit, deviation_name);
	strbuf_addf(out, "%.1f %% of the mean of %zu runs\n",
		    percent(summary->deviation, summary->mean), summary->count);
	add_value_line(out, summary->median, unit, median_name);
	stat_add_value(out, summary->min);
	strbuf_add_str(out, " to ");
	stat_add_value(out, summary->max);
	strbuf_addf(out, " %s\n", unit);
}

static void add_outliers(struct strbuf *out, const struct run_summary *joules)
{
	if (!joules->outliers)
		return;
	strbuf_addf(out, "\n Warning: %zu of the runs %s far from the others. ", joules->outliers,
		    joules->outliers == 1 ? "is" : "are");
	strbuf_add_str(out, joules->first_is_outlier
				    ? "The first one is, so caches may have been cold: try "
				      "--warmup=1.\n"
				    : "Other programs may have disturbed them: try a quiet machine "
				      "or more runs.\n");
}

static const char *verdict_of(const struct run_difference *difference)
{
	if (difference->probability >= CLEAR_PROBABILITY)
		return "no clear difference";
	return difference->difference > 0 ? "more energy" : "less energy";
}

static void add_signed(struct strbuf *out, double value)
{
	if (value >= 0)
		strbuf_add_char(out, '+');
	stat_add_value(out, value);
}

static void add_comparison(struct strbuf *out, const struct stat_baseline *baseline,
			   const struct run_summary *before, const struct run_summary *after)
{
	struct run_difference difference;

	strbuf_add_str(out, "\n Compared with ");
	stat_add_clean(out, baseline->name);
	if (!run_difference_of(before, after, &difference)) {
		strbuf_add_str(out, ": two runs on either side are needed: --repeat=10\n");
		return;
	}
	strbuf_add_str(out, ": ");
	add_signed(out, difference.difference);
	strbuf_addf(out, " J (%+.1f %%), 95 %% interval ",
		    percent(difference.difference, before->mean));
	add_signed(out, difference.low);
	strbuf_add_str(out, " to ");
	add_signed(out, difference.high);
	strbuf_addf(out, " J, p = %.2g: %s\n", difference.probability, verdict_of(&difference));
}

struct summaries {
	struct run_summary joules, seconds, baseline;
};

static int summarise(const struct stat_runs *runs, const struct stat_baseline *baseline,
		     struct summaries *ret)
{
	int r = run_summary_of(runs->joules, runs->count, &ret->joules);

	if (r == 0)
		r = run_summary_of(runs->seconds, runs->count, &ret->seconds);
	if (r == 0 && baseline->name)
		r = run_summary_of(baseline->joules, baseline->count, &ret->baseline);
	return r;
}

int stat_runs_text(const struct stat_runs *runs, const struct stat_baseline *baseline,
		   struct strbuf *out)
{
	struct summaries of;
	int r = summarise(runs, baseline, &of);

	if (r < 0)
		return r;
	stat_text(&runs->mean, out);
	if (runs->count > 1) {
		add_summary(out, &of.joules, "J", "stddev", "median");
		add_summary(out, &of.seconds, "s", "elapsed-stddev", "elapsed-median");
		add_outliers(out, &of.joules);
	}
	if (baseline->name)
		add_comparison(out, baseline, &of.baseline, &of.joules);
	if (runs->phases)
		stat_phases_text(runs->phases, out);
	if (runs->count > 1 || baseline->name || runs->phases)
		strbuf_add_char(out, '\n');
	return strbuf_error(out);
}

int stat_runs_markdown(const struct stat_runs *runs, const struct stat_baseline *baseline,
		       struct strbuf *out)
{
	struct summaries of;
	struct run_difference difference;
	int r = summarise(runs, baseline, &of);

	if (r < 0)
		return r;
	stat_markdown(&runs->mean, out);
	if (runs->count > 1)
		strbuf_addf(out, "| runs | %zu, deviation %.1f %% |\n", runs->count,
			    percent(of.joules.deviation, of.joules.mean));
	if (baseline->name && run_difference_of(&of.baseline, &of.joules, &difference)) {
		strbuf_addf(out, "| against the baseline | %+.1f %% (",
			    percent(difference.difference, of.baseline.mean));
		add_signed(out, difference.low);
		strbuf_add_str(out, " to ");
		add_signed(out, difference.high);
		strbuf_addf(out, " J): **%s** |\n", verdict_of(&difference));
	}
	return strbuf_error(out);
}

/* ---- JSON ---- */

static void add_array(struct strbuf *out, const char *key, const double *values, size_t count)
{
	strbuf_addf(out, ",\n \"%s\":[", key);
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "%s%.6f", i ? "," : "", values[i]);
	strbuf_add_char(out, ']');
}

static void add_json_summary(struct strbuf *out, const struct run_summary *of, const char *prefix)
{
	strbuf_addf(out,
		    ",\n \"%smean\":%.6f,\"%sstddev\":%.6f,\"%smedian\":%.6f,\"%smin\":%.6f,"
		    "\"%smax\":%.6f",
		    prefix, of->mean, prefix, of->deviation, prefix, of->median, prefix, of->min,
		    prefix, of->max);
}

static void add_json_comparison(struct strbuf *out, const struct stat_baseline *baseline,
				const struct summaries *of)
{
	struct run_difference difference;

	strbuf_add_str(out, ",\n \"baseline\":{\"file\":\"");
	strbuf_add_json(out, baseline->name);
	strbuf_addf(out, "\",\"joules_mean\":%.6f,\"runs\":%zu", of->baseline.mean,
		    baseline->count);
	if (run_difference_of(&of->baseline, &of->joules, &difference))
		strbuf_addf(out,
			    ",\"difference_joules\":%.6f,\"low_joules\":%.6f,\"high_joules\":"
			    "%.6f,\"p\":%.6g,\"verdict\":\"%s\"",
			    difference.difference, difference.low, difference.high,
			    difference.probability, verdict_of(&difference));
	strbuf_add_char(out, '}');
}

int stat_runs_json(const struct stat_runs *runs, const struct stat_baseline *baseline,
		   struct strbuf *out)
{
	struct summaries of;
	int r = summarise(runs, baseline, &of);

	if (r < 0)
		return r;
	strbuf_add_char(out, '{');
	stat_json_members(&runs->mean, out);
	strbuf_addf(out, ",\n \"runs\":%zu,\"outliers\":%zu", runs->count, of.joules.outliers);
	add_json_summary(out, &of.seconds, "");
	add_array(out, "times", runs->seconds, runs->count);
	add_json_summary(out, &of.joules, "joules_");
	add_array(out, "joules_each", runs->joules, runs->count);
	add_array(out, "cpu_seconds_each", runs->cpu_seconds, runs->count);
	strbuf_add_str(out, ",\n \"exit_codes\":[");
	for (size_t i = 0; i < runs->count; i++)
		strbuf_addf(out, "%s%d", i ? "," : "", runs->statuses[i]);
	strbuf_add_char(out, ']');
	if (runs->phases)
		stat_phases_json(runs->phases, out);
	if (baseline->name)
		add_json_comparison(out, baseline, &of);
	strbuf_add_str(out, "}\n");
	return strbuf_error(out);
}
