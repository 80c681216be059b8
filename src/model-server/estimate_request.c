// SPDX-License-Identifier: Apache-2.0
#include "model-server/estimate_request.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "repository/model_entry.h"
#include "repository/model_json.h"

void estimate_request_release(struct estimate_request *request)
{
	json_decref(request->json);
	free(request->values);
	*request = (struct estimate_request){ 0 };
}

static int take_text(const json_t *json, const char *key, const char **ret, struct diag *diag)
{
	const json_t *value = json_object_get(json, key);

	*ret = "";
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return diag_add(diag, -EINVAL, "%s: must be a text", key);
	*ret = json_string_value(value);
	return 0;
}

static int add_name(struct estimate_request *request, const char *name, const char *key,
		    struct diag *diag)
{
	if (!name || !*name)
		return diag_add(diag, -EINVAL, "%s: must be a list of names", key);
	for (size_t i = 0; i < request->name_count; i++)
		if (strcmp(request->names[i], name) == 0)
			return diag_add(diag, -EINVAL, "%s: \"%.60s\" comes twice", key, name);
	if (request->name_count == ESTIMATE_NAMES_MAX)
		return diag_add(diag, -EINVAL, "%s: more than %d names", key, ESTIMATE_NAMES_MAX);
	request->names[request->name_count++] = name;
	return 0;
}

/* Names of metrics, and of system features with a number; their indices go to @columns. */
static int take_names(struct estimate_request *request, size_t columns[ESTIMATE_NAMES_MAX],
		      struct diag *diag)
{
	const json_t *metrics = json_object_get(request->json, "metrics");
	const json_t *features = json_object_get(request->json, "system_features");
	const json_t *values = json_object_get(request->json, "system_values");
	int r = 0;

	if (!json_is_array(metrics) || json_array_size(metrics) == 0)
		return diag_add(diag, -EINVAL, "metrics: must be a list of names of features");
	for (size_t i = 0; r == 0 && i < json_array_size(metrics); i++)
		r = add_name(request, json_string_value(json_array_get(metrics, i)), "metrics",
			     diag);
	if (r == 0 && json_array_size(features) != json_array_size(values))
		r = diag_add(diag, -EINVAL,
			     "system_values: must have a value for each of "
			     "system_features");
	for (size_t i = 0; r == 0 && i < json_array_size(features); i++) {
		if (!json_is_number(json_array_get(values, i)))
			continue;
		if (request->name_count < ESTIMATE_NAMES_MAX)
			columns[request->name_count] = i;
		r = add_name(request, json_string_value(json_array_get(features, i)),
			     "system_features", diag);
	}
	return r;
}

static int read_number(const json_t *value, double *ret)
{
	double number = json_is_number(value) ? json_number_value(value) : (double)NAN;

	if (!json_is_null(value) && !isfinite(number))
		return -EINVAL;
	*ret = number;
	return 0;
}

static int read_row(const struct estimate_request *request, const json_t *row, size_t metrics,
		    double *ret)
{
	if (json_array_size(row) != metrics)
		return -EINVAL;
	for (size_t i = 0; i < metrics; i++)
		if (read_number(json_array_get(row, i), &ret[i]) < 0)
			return -EINVAL;
	for (size_t i = metrics; i < request->name_count; i++)
		ret[i] = 0; /* the system's, set by the caller */
	return 0;
}

static int take_rows(struct estimate_request *request, const size_t columns[ESTIMATE_NAMES_MAX],
		     struct diag *diag)
{
	const json_t *rows = json_object_get(request->json, "values");
	const json_t *system = json_object_get(request->json, "system_values");
	size_t metrics = json_array_size(json_object_get(request->json, "metrics"));
	size_t count = json_array_size(rows);

	if (!json_is_array(rows) || count == 0 || count > ESTIMATE_ROWS_MAX)
		return diag_add(diag, -EINVAL, "values: must be a list of 1 to %d rows",
				ESTIMATE_ROWS_MAX);
	request->values = calloc(count * request->name_count + 1, sizeof(*request->values));
	if (!request->values)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		double *row = request->values + i * request->name_count;

		if (read_row(request, json_array_get(rows, i), metrics, row) < 0)
			return diag_add(diag, -EINVAL,
					"values: row %zu must have a finite number for each of "
					"the %zu metrics",
					i, metrics);
		for (size_t k = metrics; k < request->name_count; k++)
			row[k] = json_number_value(json_array_get(system, columns[k]));
	}
	request->row_count = count;
	return 0;
}

static int take_output(struct estimate_request *request, struct diag *diag)
{
	const char *output = "";
	int r = take_text(request->json, "output_type", &output, diag);

	if (r == 0 && *output && !model_output_parse(output, &request->output))
		r = diag_add(diag, -EINVAL,
			     "output_type: must be AbsPower or DynPower, not \"%.40s\"", output);
	return r;
}

/* Each member is looked at, so that one answer names everything that is wrong. */
static int take_all(struct estimate_request *request, struct diag *diag)
{
	size_t columns[ESTIMATE_NAMES_MAX] = { 0 };
	int r = take_names(request, columns, diag);

	if (r == 0)
		r = take_rows(request, columns, diag);
	if (r == -ENOMEM)
		return r;
	if (take_output(request, diag) < 0)
		r = -EINVAL;
	if (take_text(request->json, "source", &request->source, diag) < 0)
		r = -EINVAL;
	if (take_text(request->json, "trainer_name", &request->trainer, diag) < 0)
		r = -EINVAL;
	if (take_text(request->json, "filter", &request->filter, diag) < 0)
		r = -EINVAL;
	return r;
}

int estimate_request_read(const char *text, size_t size, struct estimate_request *ret,
			  struct diag *diag)
{
	struct estimate_request request = { .json = model_json_parse("request", text, size, diag) };
	int r = request.json ? take_all(&request, diag) : -EINVAL;

	if (r < 0)
		estimate_request_release(&request);
	else
		*ret = request;
	return r;
}
