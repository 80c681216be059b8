// SPDX-License-Identifier: Apache-2.0
#include "model-server/api_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"
#include "repository/model_json.h"

static const struct choice_request anything = {
	.source = "",
	.output = MODEL_ABS_POWER,
	.group = "",
	.trainer = "",
	.pipeline = "",
	.node_type = -1,
	.filter = "",
};

/* ---- upstream's JSON ---- */

/* The text at @key in *ret, which stays as it is if the text is missing or null. */
static int take_text(const json_t *json, const char *key, const char **ret, struct diag *diag)
{
	const json_t *value = json_object_get(json, key);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return diag_set(diag, -EINVAL, "%s: must be a text", key);
	*ret = json_string_value(value);
	return 0;
}

static int take_bool(const json_t *json, const char *key, bool *ret, struct diag *diag)
{
	const json_t *value = json_object_get(json, key);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_boolean(value))
		return diag_set(diag, -EINVAL, "%s: must be true or false", key);
	*ret = json_is_true(value);
	return 0;
}

static int take_metrics(struct api_request *request, struct diag *diag)
{
	const json_t *metrics = json_object_get(request->json, "metrics");
	size_t count = json_array_size(metrics);

	if (!json_is_array(metrics) || count == 0 || count > API_METRICS_MAX)
		return diag_set(diag, -EINVAL,
				"metrics: must be a list of 1 to %d names of features",
				API_METRICS_MAX);
	for (size_t i = 0; i < count; i++) {
		request->metrics[i] = json_string_value(json_array_get(metrics, i));
		if (!request->metrics[i])
			return diag_set(diag, -EINVAL, "metrics: must be a list of texts");
	}
	request->choice.feature_count = count;
	return 0;
}

static int take_node_type(const json_t *json, struct choice_request *choice, struct diag *diag)
{
	const json_t *value = json_object_get(json, "node_type");

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < -1 ||
	    json_integer_value(value) > INT32_MAX)
		return diag_set(diag, -EINVAL, "node_type: must be a number from -1");
	choice->node_type = (int32_t)json_integer_value(value);
	return 0;
}

static int take_output(const char *text, struct choice_request *choice, struct diag *diag)
{
	if (!*text || model_output_parse(text, &choice->output))
		return 0;
	return diag_set(diag, -EINVAL, "output_type: must be AbsPower or DynPower, not \"%.40s\"",
			text);
}

static int take_machine(const json_t *json, struct choice_request *choice, struct diag *diag)
{
	const json_t *spec = json_object_get(json, "machine_spec");

	if (!spec || json_is_null(spec))
		return 0;
	if (!json_is_object(spec))
		return diag_set(diag, -EINVAL, "machine_spec: must be an object");
	machine_spec_read(spec, &choice->machine);
	if (!machine_spec_is_empty(&choice->machine))
		choice->node_type = -1;
	return 0;
}

static int take_all(struct api_request *request, struct diag *diag)
{
	struct choice_request *choice = &request->choice;
	const json_t *json = request->json;
	const char *output = "";
	bool loose = true;
	int r = take_metrics(request, diag);

	if (r == 0)
		r = take_text(json, "output_type", &output, diag);
	if (r == 0)
		r = take_output(output, choice, diag);
	if (r == 0)
		r = take_text(json, "source", &choice->source, diag);
	if (r == 0)
		r = take_text(json, "trainer_name", &choice->trainer, diag);
	if (r == 0)
		r = take_text(json, "filter", &choice->filter, diag);
	if (r == 0)
		r = take_text(json, "pipeline_name", &choice->pipeline, diag);
	if (r == 0)
		r = take_bool(json, "weight", &request->weights, diag);
	if (r == 0)
		r = take_bool(json, "loose_node_type", &loose, diag);
	if (r == 0)
		r = take_node_type(json, choice, diag);
	if (r == 0)
		r = take_machine(json, choice, diag);
	choice->exact = !loose;
	return r;
}

int api_request_read(const char *text, size_t size, struct api_request *ret, struct diag *diag)
{
	int r;

	*ret = (struct api_request){ .choice = anything };
	ret->json = model_json_parse("request", text, size, diag);
	if (!ret->json)
		return -EINVAL;
	r = take_all(ret, diag);
	ret->choice.features = ret->metrics;
	ret->choice.files = ret->weights ? FILE_WEIGHTS : FILE_ARCHIVE;
	if (r < 0)
		api_request_release(ret);
	return r;
}

void api_request_release(struct api_request *request)
{
	json_decref(request->json);
	request->json = NULL;
}

/* ---- queries ---- */

struct query {
	api_argument *argument;
	void *userdata;
	struct api_request *request;
	struct diag *diag;
	int result; /* for the first invalid argument */
};

/* The unescaped value of @name, or "". */
static const char *text_of(struct query *query, const char *name)
{
	struct api_request *request = query->request;
	const char *value = query->argument(query->userdata, name);
	char *text = request->texts + request->text_len;
	size_t room = sizeof(request->texts) - request->text_len;
	int r;

	if (!value || query->result < 0)
		return "";
	r = http_url_unescape(value, text, room);
	if (r < 0) {
		query->result = diag_set(query->diag, -EINVAL, "%s: %s", name,
					 r == -ENOSPC ? "is too long" : "is not escaped right");
		return "";
	}
	request->text_len += strlen(text) + 1;
	return text;
}

static double number_of(struct query *query, const char *name, double lowest, double highest,
			double none)
{
	const char *text = text_of(query, name);
	double number = none;

	if (!*text)
		return none;
	if (parse_double(text, &number) < 0 || number < lowest || number > highest)
		query->result = diag_set(query->diag, -EINVAL, "%s: must be a number from %g to %g",
					 name, lowest, highest);
	return query->result < 0 ? none : number;
}

static uint32_t whole_of(struct query *query, const char *name)
{
	return (uint32_t)number_of(query, name, 0, 1e9, 0);
}

/* Splits "a,b" in place into the request's metrics. */
static void take_features(struct query *query, const char *list)
{
	struct api_request *request = query->request;
	char *at = request->texts + (list - request->texts);

	if (!*list)
		return;
	request->choice.features = request->metrics;
	while (request->choice.feature_count < API_METRICS_MAX) {
		char *end = strchr(at, ',');

		request->metrics[request->choice.feature_count++] = at;
		if (!end)
			return;
		*end = '\0';
		at = end + 1;
	}
	query->result =
		diag_set(query->diag, -EINVAL, "features: more than %d names", API_METRICS_MAX);
}

static void take_format(struct query *query, const char *format)
{
	struct api_request *request = query->request;

	request->weights = strcmp(format, "weights") == 0;
	if (request->weights)
		request->choice.files = FILE_WEIGHTS;
	else if (strcmp(format, "archive") == 0)
		request->choice.files = FILE_ARCHIVE;
	else if (*format)
		query->result =
			diag_set(query->diag, -EINVAL,
				 "format: must be weights or archive, not \"%.40s\"", format);
}

static void take_query_machine(struct query *query, struct machine_spec *machine)
{
	processor_name(text_of(query, "processor"), machine->processor, sizeof(machine->processor));
	machine->cores = whole_of(query, "cores");
	machine->chips = whole_of(query, "chips");
	machine->memory_gb = whole_of(query, "memory");
	machine->frequency_mhz = whole_of(query, "frequency");
}

int api_request_query(api_argument *argument, void *userdata, struct api_request *ret,
		      struct diag *diag)
{
	struct query query;
	struct choice_request *choice = &ret->choice;
	const char *output;

	*ret = (struct api_request){ .choice = anything };
	query = (struct query){ argument, userdata, ret, diag, 0 };
	take_features(&query, text_of(&query, "features"));
	output = text_of(&query, "output");
	choice->source = text_of(&query, "source");
	choice->group = text_of(&query, "group");
	choice->trainer = text_of(&query, "trainer");
	choice->pipeline = text_of(&query, "pipeline");
	choice->filter = text_of(&query, "filter");
	choice->exact = strcmp(text_of(&query, "exact"), "true") == 0;
	choice->no_pickles = strcmp(text_of(&query, "pickles"), "true") != 0;
	choice->max_error = number_of(&query, "max-error", 0, 1e6, 0) / 100;
	choice->node_type = (int32_t)number_of(&query, "node-type", -1, INT32_MAX, -1);
	take_query_machine(&query, &choice->machine);
	take_format(&query, text_of(&query, "format"));
	return query.result < 0 ? query.result : take_output(output, choice, diag);
}

int api_request_best(api_argument *argument, void *userdata, struct api_request *ret,
		     bool *ret_any_output, struct diag *diag)
{
	struct query query;
	struct choice_request *choice = &ret->choice;
	const char *output;

	*ret = (struct api_request){ .choice = anything };
	query = (struct query){ argument, userdata, ret, diag, 0 };
	output = text_of(&query, "output-type");
	choice->group = text_of(&query, "feature-group");
	choice->source = text_of(&query, "energy-source");
	choice->filter = text_of(&query, "filter");
	choice->node_type = (int32_t)number_of(&query, "node-type", -1, INT32_MAX, -1);
	*ret_any_output = !*output;
	return query.result < 0 ? query.result : take_output(output, choice, diag);
}
