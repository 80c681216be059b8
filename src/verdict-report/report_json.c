// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_json.h"

#include <jansson.h>
#include <math.h>

#include "base/macro.h"
#include "verdict-report/json_members.h"

static json_t *series_object(const struct series *series, size_t index, const char *which)
{
	json_t *object = json_object(), *dropped = json_object();
	char file[REPORT_FILE_MAX];

	report_series_file(index, which, file);
	json_members_set_text(object, "name", series->name);
	json_members_set_text(object, "source", series->source);
	json_members_set_text(object, "query", series->query);
	json_members_set_text(object, "unit", series->unit);
	json_members_set_text(object, "file", file);
	json_members_set(object, "samples", json_integer((json_int_t)series->samples));
	json_members_set(object, "negative", json_integer((json_int_t)series->negative));
	json_members_set(object, "gaps", json_integer((json_int_t)series->gaps));
	json_members_set_number(object, "error", series->error);
	json_members_set(dropped, "not_finite",
			 json_integer((json_int_t)series->dropped.not_finite));
	json_members_set(dropped, "duplicate", json_integer((json_int_t)series->dropped.duplicate));
	json_members_set(dropped, "out_of_order",
			 json_integer((json_int_t)series->dropped.out_of_order));
	json_members_set(dropped, "reset", json_integer((json_int_t)series->dropped.reset));
	json_members_set(object, "dropped", dropped);
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
		json_members_set_number(object, numbers[i].key, numbers[i].value);
	json_members_set(object, "pairs", json_integer((json_int_t)errors->pairs));
	return object;
}

static json_t *phases_array(const struct result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->phase_count; i++) {
		const struct phase_result *phase = &result->phases[i];
		json_t *object = json_object();

		json_members_set_text(object, "name", phase->phase.name);
		json_members_set_number(object, "start_s", phase->phase.start_s);
		json_members_set_number(object, "end_s", phase->phase.end_s);
		json_members_set_number(object, "actual", phase->actual);
		json_members_set_number(object, "predicted", phase->predicted);
		json_members_set_number(object, "ratio_low", phase->ratio_low);
		json_members_set_number(object, "ratio_high", phase->ratio_high);
		json_members_set_number(object, "error", phase->error);
		json_members_set_text(object, "verdict", verdict_name(phase->verdict));
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
		json_members_set_text(line, "name", table->rows[row].name);
		json_members_set(line, "cells", cells);
		(void)json_array_append_new(rows, line);
	}
	json_members_set(object, "columns", columns);
	json_members_set(object, "rows", rows);
	return object;
}

static json_t *result_object(const struct result *result, size_t index)
{
	json_t *object = json_object(), *threshold = json_object();

	json_members_set_text(object, "name", result->name);
	json_members_set_text(object, "exporter", result->exporter);
	json_members_set_text(object, "kind", result_kind_name(result->kind));
	json_members_set_text(object, "verdict", verdict_name(result->verdict));
	json_members_set_text(object, "cause", cause_name(result->cause));
	json_members_set_text(object, "reason", result->reason);
	json_members_set_number(threshold, "max_error", result->threshold.max_error);
	json_members_set_number(threshold, "max_lag_s", result->threshold.max_lag_s);
	json_members_set_number(threshold, "truth_error", result->threshold.truth_error);
	json_members_set(object, "threshold", threshold);
	json_members_set_number(object, "error", result->error);
	if (result->has_errors)
		json_members_set(object, "errors", errors_object(&result->errors));
	if (result->phase_count > 0)
		json_members_set(object, "phases", phases_array(result));
	if (result->table)
		json_members_set(object, "table", table_object(result->table));
	if (result->actual)
		json_members_set(object, "actual", series_object(result->actual, index, "actual"));
	if (result->predicted)
		json_members_set(object, "predicted",
				 series_object(result->predicted, index, "predicted"));
	return object;
}

static json_t *machine_object(const struct machine_facts *machine)
{
	json_t *object = json_object();

	for (size_t i = 0; machine && i < machine->count; i++)
		json_members_set_text(object, machine->items[i].name, machine->items[i].value);
	return object;
}

static json_t *counts_object(const struct result_list *results)
{
	json_t *object = json_object();

	for (int v = VERDICT_PASS; v <= VERDICT_NOT_APPLICABLE; v++)
		json_members_set(
			object, verdict_name((enum verdict)v),
			json_integer((json_int_t)result_list_count(results, (enum verdict)v)));
	return object;
}

static json_t *report_object(const struct verdict_report *report)
{
	json_t *object = json_object(), *results = json_array();
	double start_s, end_s;
	char text[32];

	report_time(report, &start_s, &end_s);
	json_members_set(object, "format", json_integer(REPORT_FORMAT_VERSION));
	json_members_set_text(object, "verdict",
			      verdict_name(result_list_verdict(report->results)));
	json_members_set(object, "counts", counts_object(report->results));
	report_time_text((double)report->created, text);
	json_members_set_text(object, "created", text);
	json_members_set_text(object, "version", report->version);
	json_members_set_text(object, "command", report->command);
	json_members_set_number(object, "start_s", start_s);
	json_members_set_number(object, "end_s", end_s);
	json_members_set(object, "machine", machine_object(report->machine));
	for (size_t i = 0; i < report->results->count; i++)
		(void)json_array_append_new(results, result_object(report->results->items[i], i));
	json_members_set(object, "results", results);
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
