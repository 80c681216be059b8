// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"

/* Sets a member; jansson takes @value over, and NULL (no memory) leaves the member out. */
static void set(json_t *object, const char *key, json_t *value)
{
	(void)json_object_set_new(object, key, value);
}

static void set_number(json_t *object, const char *key, double value)
{
	set(object, key, isfinite(value) ? json_real(value) : json_null());
}

/* Text from outside, which need not be UTF-8. */
static void set_text(json_t *object, const char *key, const char *text)
{
	json_t *value = json_string(text);

	if (!value) {
		char plain[RESULT_REASON_MAX];
		size_t len = 0;
		for (; text[len] && len + 1 < sizeof(plain); len++)
			plain[len] = (text[len] & 0x80) ? '?' : text[len];
		plain[len] = '\0';
		value = json_string(plain);
	}
	set(object, key, value);
}

static json_t *series_object(const struct series *series, size_t index, const char *which)
{
	json_t *object = json_object(), *dropped = json_object();
	char file[REPORT_FILE_MAX];

	report_series_file(index, which, file);
	set_text(object, "name", series->name);
	set_text(object, "source", series->source);
	set_text(object, "query", series->query);
	set_text(object, "unit", series->unit);
	set_text(object, "file", file);
	set(object, "samples", json_integer((json_int_t)series->samples));
	set(object, "negative", json_integer((json_int_t)series->negative));
	set(object, "gaps", json_integer((json_int_t)series->gaps));
	set_number(object, "error", series->error);
	set(dropped, "not_finite", json_integer((json_int_t)series->dropped.not_finite));
	set(dropped, "duplicate", json_integer((json_int_t)series->dropped.duplicate));
	set(dropped, "out_of_order", json_integer((json_int_t)series->dropped.out_of_order));
	set(dropped, "reset", json_integer((json_int_t)series->dropped.reset));
	set(object, "dropped", dropped);
	return object;
}

static json_t *errors_object(const struct errors *errors)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{ "actual", errors->actual },
		{ "predicted", errors->predicted },
		{ "energy_ratio", errors->energy_ratio },
		{ "ratio_low", errors->ratio_low },
		{ "ratio_high", errors->ratio_high },
		{ "range", errors->range },
		{ "lag_s", errors->lag_s },
		{ "scale", errors->scale },
		{ "offset", errors->offset },
		{ "shape", errors->shape },
		{ "saturated", errors->saturated },
		{ "mae", errors->mae },
		{ "bias", errors->bias },
		{ "median_ape", errors->median_ape },
		{ "r2", errors->r2 },
		{ "mse", errors->mse },
		{ "mape", errors->mape },
		{ "paired_s", errors->paired_s },
		{ "unpaired_actual_s", errors->unpaired_actual_s },
		{ "unpaired_predicted_s", errors->unpaired_predicted_s },
	};
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		set_number(object, numbers[i].key, numbers[i].value);
	set(object, "pairs", json_integer((json_int_t)errors->pairs));
	return object;
}

static json_t *phases_array(const struct result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];
		json_t *object = json_object();

		set_text(object, "name", phase->phase.name);
		set_number(object, "start_s", phase->phase.start_s);
		set_number(object, "end_s", phase->phase.end_s);
		set_number(object, "actual", phase->actual);
		set_number(object, "predicted", phase->predicted);
		set_number(object, "ratio_low", phase->ratio_low);
		set_number(object, "ratio_high", phase->ratio_high);
		set_number(object, "error", phase->error);
		set_text(object, "verdict", verdict_name(phase->verdict));
		(void)json_array_append_new(array, object);
	}
	return array;
}

static json_t *table_object(const struct result_table *table)
{
	json_t *object = json_object(), *columns = json_array(), *rows = json_array();

	for (size_t i = 0; i < table->column_count; i++)
		(void)json_array_append_new(columns, json_string(table->columns[i]));
	for (size_t row = 0; row < table->row_count; row++) {
		json_t *cells = json_array(), *line = json_object();

		for (size_t i = 0; i + 1 < table->column_count; i++) {
			double cell = table->rows[row].cells[i];

			(void)json_array_append_new(cells,
						    isfinite(cell) ? json_real(cell) : json_null());
		}
		set_text(line, "name", table->rows[row].name);
		set(line, "cells", cells);
		(void)json_array_append_new(rows, line);
	}
	set(object, "columns", columns);
	set(object, "rows", rows);
	return object;
}

static json_t *result_object(const struct result *result, size_t index)
{
	json_t *object = json_object(), *threshold = json_object();

	set_text(object, "name", result->name);
	set_text(object, "exporter", result->exporter);
	set_text(object, "kind", result_kind_name(result->kind));
	set_text(object, "verdict", verdict_name(result->verdict));
	set_text(object, "cause", cause_name(result->cause));
	set_text(object, "reason", result->reason);
	set_number(threshold, "max_error", result->threshold.max_error);
	set_number(threshold, "max_lag_s", result->threshold.max_lag_s);
	set_number(threshold, "truth_error", result->threshold.truth_error);
	set(object, "threshold", threshold);
	set_number(object, "error", result->error);
	if (result->has_errors)
		set(object, "errors", errors_object(&result->errors));
	if (result->phase_count > 0)
		set(object, "phases", phases_array(result));
	if (result->table)
		set(object, "table", table_object(result->table));
	if (result->actual)
		set(object, "actual", series_object(result->actual, index, "actual"));
	if (result->predicted)
		set(object, "predicted", series_object(result->predicted, index, "predicted"));
	return object;
}

static json_t *machine_object(const struct machine_facts *machine)
{
	json_t *object = json_object();

	for (size_t i = 0; machine && i < machine->count; i++)
		set_text(object, machine->items[i].name, machine->items[i].value);
	return object;
}

static json_t *counts_object(const struct result_list *results)
{
	json_t *object = json_object();

	for (int v = VERDICT_PASS; v <= VERDICT_NOT_APPLICABLE; v++)
		set(object, verdict_name((enum verdict)v),
		    json_integer((json_int_t)result_list_count(results, (enum verdict)v)));
	return object;
}

static json_t *report_object(const struct verdict_report *report)
{
	json_t *object = json_object(), *results = json_array();
	double start_s, end_s;
	char text[32];

	report_time(report, &start_s, &end_s);
	set(object, "format", json_integer(REPORT_FORMAT_VERSION));
	set_text(object, "verdict", verdict_name(result_list_verdict(report->results)));
	set(object, "counts", counts_object(report->results));
	report_time_text((double)report->created, text);
	set_text(object, "created", text);
	set_text(object, "version", report->version);
	set_text(object, "command", report->command);
	set_number(object, "start_s", start_s);
	set_number(object, "end_s", end_s);
	set(object, "machine", machine_object(report->machine));
	for (size_t i = 0; i < report->results->count; i++)
		(void)json_array_append_new(results, result_object(report->results->items[i], i));
	set(object, "results", results);
	return object;
}

void report_json_add(struct strbuf *out, const struct verdict_report *report)
{
	json_t *object = report_object(report);
	char *text = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(13));

	if (text) {
		strbuf_add_str(out, text);
		strbuf_add_char(out, '\n');
	} else {
		out->failed = true;
	}
	free(text);
	json_decref(object);
}
