// SPDX-License-Identifier: Apache-2.0
/*
 * The type of a file is recognised by its first bytes or by its keys. Before it is parsed, its
 * size, its depth and the number of its values are limited: a value of a text takes up to forty
 * times its size in memory.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/json_scan.h"
#include "model/feature.h"
#include "model/model_file.h"
#include "model/trained_model.h"
#include "model/upstream_weights.h"
#include "model/xgboost_json.h"

#define VALUES_MAX 3000000

/* Other kinds of files, recognised by their first bytes, and how to convert them. */
static const struct {
	const char *bytes;
	size_t len;
	const char *what;
} other_files[] = {
	{ "\x80\x02", 2, "a pickle" },
	{ "\x80\x03", 2, "a pickle" },
	{ "\x80\x04", 2, "a pickle" },
	{ "\x80\x05", 2, "a pickle" },
	{ "PK\x03\x04", 4, "a zip archive; a model in it is used by unpacking it" },
	{ "\x1f\x8b", 2, "compressed (gzip); unpack it first" },
	{ "{L", 2, "UBJSON; save the booster as JSON: save_model(\"model.json\")" },
	{ "binf", 4, "XGBoost's old binary format; save the booster as JSON" },
	{ "tree\n", 5, "a LightGBM model; kepler-model trains XGBoost's trees on the same rows" },
	{ "\x08", 1, "a binary file, such as ONNX; use JSON of XGBoost or of kepler-model" },
	{ "<?xml", 5, "XML, such as PMML; use JSON of XGBoost or of kepler-model" },
	{ "<", 1, "a page of HTML or XML, such as a server's error; check the URL" },
};

static int refuse_other_files(const struct json_source *source, const char *text, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(other_files); i++) {
		if (size < other_files[i].len ||
		    memcmp(text, other_files[i].bytes, other_files[i].len) != 0)
			continue;
		if (text[0] == '\x80')
			return json_value_refuse(source, "",
						 "it is a pickle, which is never loaded because "
						 "loading can run arbitrary code; use the weights "
						 "(JSON) of the same model, or train it again with "
						 "kepler-model");
		return json_value_refuse(source, "", "it is %s", other_files[i].what);
	}
	return 0;
}

/* An upper limit of the values that @text has, JSON or not. */
static size_t count_values(const char *text, size_t size)
{
	size_t count = 1;

	for (size_t i = 0; i < size; i++)
		count += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return count;
}

static int load(const struct json_source *source, const char *text, size_t size, json_t **ret)
{
	json_error_t error;
	json_t *root;

	if (count_values(text, size) > VALUES_MAX)
		return json_value_refuse(source, "", "it has more than %d values", VALUES_MAX);
	if (json_is_too_deep(text, size))
		return json_value_refuse(source, "", "it is nested more than %d deep",
					 JSON_DEPTH_MAX);
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return diag_set(source->diag,
				json_error_code(&error) == json_error_out_of_memory ? -ENOMEM
										    : -EINVAL,
				"%s:%d:%d: not JSON: %s; a model is a JSON file", source->file,
				error.line, error.column, error.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return json_value_refuse(source, "", "it must be a JSON object");
	}
	*ret = root;
	return 0;
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* "package" of "package.json". */
static void name_component(const char *file, struct model_component *component)
{
	const char *base = base_name(file);

	(void)snprintf(component->name, sizeof(component->name), "%.*s", (int)strcspn(base, "."),
		       base);
}

/* A feature without a name is called by its number, as XGBoost does: f0. */
static int name_features(const struct json_source *source, const json_t *root,
			 struct model_component *component)
{
	component->feature_count = component->predictor.features;
	component->features = calloc(component->feature_count, sizeof(*component->features));
	if (!component->features)
		return -ENOMEM;
	for (size_t i = 0; i < component->feature_count; i++) {
		struct model_feature *feature = &component->features[i];
		const char *name = xgboost_json_feature(root, i);

		if (name && strlen(name) >= sizeof(feature->name))
			return json_value_refuse(source, "learner.feature_names",
						 "a name is longer than %zu bytes",
						 sizeof(feature->name) - 1);
		if (name)
			(void)snprintf(feature->name, sizeof(feature->name), "%s", name);
		else
			(void)snprintf(feature->name, sizeof(feature->name), "f%zu", i);
		feature->scale = 1;
		feature->minimum = feature->maximum = (double)NAN;
	}
	return 0;
}

static int read_booster(const struct json_source *source, const json_t *root,
			struct trained_model *model)
{
	struct model_component *component = calloc(1, sizeof(*component));
	int r;

	if (!component)
		return -ENOMEM;
	model->components = component;
	model->component_count = 1;
	model->node_type = -1;
	component->minimum_w = component->maximum_w = (double)NAN;
	component->error = (struct model_error){ .mae_w = (double)NAN,
						 .mape_percent = (double)NAN,
						 .bound_w = (double)NAN,
						 .bound_ratio = (double)NAN };
	(void)snprintf(model->origin.trainer, sizeof(model->origin.trainer), "XgboostFitTrainer");
	name_component(source->file, component);
	(void)snprintf(model->name, sizeof(model->name), "%s", component->name);
	r = xgboost_json_read(source, root, &component->predictor);
	return r < 0 ? r : name_features(source, root, component);
}

static int read_model(const struct json_source *source, const json_t *root,
		      struct trained_model *model)
{
	if (model_file_is(root))
		return model_file_read(source, root, model);
	if (xgboost_json_is(root))
		return read_booster(source, root, model);
	if (upstream_weights_are(root))
		return upstream_weights_read(source, root, model);
	return json_value_refuse(source, "",
				 "not a known model format: it has neither \"format\" "
				 "(kepler-model), nor a component with \"All_Weights\", nor "
				 "XGBoost's \"learner\"");
}

/* The group of the features, if the file does not name one. */
static void name_group(struct trained_model *model)
{
	const char *names[PREDICTOR_FEATURES_MAX];
	const struct feature_group *group;

	if (model->feature_group[0] || model->component_count == 0)
		return;
	for (size_t i = 0; i < model->components[0].feature_count; i++)
		names[i] = model->components[0].features[i].name;
	group = feature_group_of(names, model->components[0].feature_count);
	if (group)
		(void)snprintf(model->feature_group, sizeof(model->feature_group), "%s",
			       group->name);
}

int trained_model_parse(struct trained_model *ret, const char *name, const char *text, size_t size,
			struct diag *diag)
{
	const struct json_source source = { .file = name, .diag = diag };
	struct trained_model model;
	json_t *root = NULL;
	int r;

	if (size > MODEL_FILE_MAX)
		return diag_set(diag, -E2BIG, "%s: it has %zu bytes, more than %u", name, size,
				MODEL_FILE_MAX);
	r = refuse_other_files(&source, text, size);
	if (r == 0)
		r = load(&source, text, size, &root);
	if (r < 0)
		return r;
	memset(&model, 0, sizeof(model));
	r = read_model(&source, root, &model);
	json_decref(root);
	if (r < 0) {
		trained_model_release(&model);
		return r == -ENOMEM ? diag_set(diag, r, "%s: out of memory", name) : r;
	}
	name_group(&model);
	*ret = model;
	return 0;
}
