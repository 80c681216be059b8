// SPDX-License-Identifier: Apache-2.0
#include "model/upstream_weights.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/json_scan.h"
#include "model/feature.h"
#include "model/xgboost_json.h"

#define PLACE_MAX   (MODEL_NAME_MAX + 64)
#define NUMERICAL   "Numerical_Variables"
#define CURVE       "CurveFit_Weights"
#define BASE64_XGB  "XGboost_Weights"
#define BOOSTER_MAX (12U * 1024 * 1024)

static const char *const component_names[] = { "platform", "package", "core",
					       "uncore",   "dram",    "gpu" };

static const json_t *weights_of(const json_t *root, const char *component)
{
	return json_object_get(json_object_get(root, component), "All_Weights");
}

bool upstream_weights_are(const json_t *root)
{
	for (size_t i = 0; i < ARRAY_SIZE(component_names); i++) {
		if (weights_of(root, component_names[i]))
			return true;
	}
	return false;
}

/* By the key, else by the folder. */
static int read_output(const struct json_source *source, const json_t *root,
		       struct trained_model *model)
{
	char said[sizeof("AbsPower")];
	int r = json_value_text(source, root, "", "output_type", said, sizeof(said));

	if (r < 0)
		return r;
	if (strcmp(said, "DynPower") == 0 || (!said[0] && strstr(source->file, "/DynPower/")))
		model->output = MODEL_DYN_POWER;
	else if (said[0] && strcmp(said, "AbsPower") != 0)
		return json_value_refuse(source, "output_type",
					 "must be AbsPower or DynPower, not \"%s\"", said);
	return 0;
}

/* "SGDRegressorTrainer_1" of "/a/SGDRegressorTrainer_1.json". */
static void name_of_file(const char *file, char *ret, size_t size)
{
	const char *slash = strrchr(file, '/');
	size_t len;

	file = slash ? slash + 1 : file;
	len = strcspn(file, ".");
	(void)snprintf(ret, size, "%.*s", (int)(len < size ? len : size - 1), file);
}

static int read_names(const struct json_source *source, const json_t *root,
		      struct trained_model *model)
{
	char *underscore;
	int r = json_value_text(source, root, "", "model_name", model->name, sizeof(model->name));

	if (r < 0)
		return r;
	if (!model->name[0])
		name_of_file(source->file, model->name, sizeof(model->name));
	(void)snprintf(model->origin.trainer, sizeof(model->origin.trainer), "%s", model->name);
	underscore = strrchr(model->origin.trainer, '_');
	model->node_type = -1;
	if (!underscore || !isdigit((unsigned char)underscore[1]) || strlen(underscore) > 8)
		return 0;
	model->node_type = (int32_t)strtol(underscore + 1, NULL, 10);
	*underscore = '\0';
	return 0;
}

static int read_count(const struct json_source *source, const json_t *json, const char *key,
		      uint32_t *ret)
{
	double value;
	int r = json_value_number_or(source, json, "machine_spec", key, 0, &value);

	if (r == 0)
		*ret = value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
	return r;
}

static int read_machine(const struct json_source *source, const json_t *root,
			struct machine_spec *machine)
{
	const json_t *json = json_object_get(root, "machine_spec");
	int r;

	if (!json_is_object(json))
		return 0;
	if ((r = json_value_text(source, json, "machine_spec", "vendor", machine->vendor,
				 sizeof(machine->vendor))) < 0 ||
	    (r = json_value_text(source, json, "machine_spec", "processor", machine->processor,
				 sizeof(machine->processor))) < 0 ||
	    (r = read_count(source, json, "cores", &machine->cores)) < 0 ||
	    (r = read_count(source, json, "chips", &machine->chips)) < 0 ||
	    (r = read_count(source, json, "memory", &machine->memory_gb)) < 0 ||
	    (r = read_count(source, json, "frequency", &machine->frequency_mhz)) < 0)
		return r;
	return read_count(source, json, "threads_per_core", &machine->threads_per_core);
}

/*
 * A variance shows that the mean was subtracted. A variance and a mean of 0 were never filled in.
 */
static int read_mean(const struct json_source *source, const json_t *json, const char *place,
		     double *ret)
{
	double mean = 0, variance = 0;
	int r = json_value_number_or(source, json, place, "mean", 0, &mean);

	if (r == 0)
		r = json_value_number_or(source, json, place, "variance", 1, &variance);
	if (r < 0)
		return r;
	if (!(fabs(mean) > 0) && !(fabs(variance) > 0))
		return json_value_refuse(source, place,
					 "the mean that was subtracted in training is missing, as "
					 "in all files of version 0.6, so that predictions would "
					 "be off; use a model of version 0.7, or train one with "
					 "kepler-model");
	*ret = mean;
	return 0;
}

static int read_feature(const struct json_source *source, const char *key, const json_t *json,
			const char *place, struct model_feature *feature, double *ret_weight,
			double *ret_mean)
{
	int r;

	if (strlen(key) >= sizeof(feature->name))
		return json_value_refuse(source, place, "a feature's name is longer than %zu bytes",
					 sizeof(feature->name) - 1);
	if (!json_is_object(json))
		return json_value_refuse(source, place, "must be an object");
	(void)snprintf(feature->name, sizeof(feature->name), "%s", key);
	if ((r = json_value_number_or(source, json, place, "scale", 0, &feature->scale)) < 0 ||
	    (r = json_value_number_or(source, json, place, "weight", 0, ret_weight)) < 0)
		return r;
	r = read_mean(source, json, place, ret_mean);
	if (r < 0)
		return r;
	feature->minimum = (double)NAN;
	/* With a mean the scale is a deviation. */
	feature->maximum =
		feature->scale > 0 && !(fabs(*ret_mean) > 0) ? feature->scale : (double)NAN;
	return 0;
}

/* Fills in features, and in @weights the intercept and a weight each. */
static int read_features(const struct json_source *source, const json_t *weights, const char *place,
			 struct model_component *component, double *linear_weights)
{
	const json_t *variables, *json;
	const char *key;
	char at[PLACE_MAX + MODEL_NAME_MAX];
	double weight = 0, mean = 0;
	int r = json_value_object(source, weights, place, NUMERICAL, &variables);

	if (r == 0)
		r = json_value_number_or(source, weights, place, "Bias_Weight", 0,
					 &linear_weights[0]);
	if (r < 0)
		return r;
	if (json_object_size(variables) == 0 ||
	    json_object_size(variables) > PREDICTOR_FEATURES_MAX)
		return json_value_refuse(source, place,
					 "\"" NUMERICAL "\" has %zu features, not 1 to %d",
					 json_object_size(variables), PREDICTOR_FEATURES_MAX);
	component->features = calloc(json_object_size(variables), sizeof(*component->features));
	if (!component->features)
		return -ENOMEM;
	json_object_foreach((json_t *)(uintptr_t)variables, key, json)
	{
		struct model_feature *feature = &component->features[component->feature_count];

		(void)snprintf(at, sizeof(at), "%s." NUMERICAL ".%.64s", place, key);
		r = read_feature(source, key, json, at, feature, &weight, &mean);
		if (r < 0)
			return r;
		component->feature_count++;
		linear_weights[component->feature_count] = weight;
		if (feature->scale > 0 || feature->scale < 0)
			linear_weights[0] -= weight * mean / feature->scale;
	}
	return 0;
}

static int set_linear(struct predictor *predictor, const double *weights)
{
	size_t terms = 1 + predictor->features;

	predictor->form = PREDICTOR_LINEAR;
	predictor->linear.weights = calloc(terms, sizeof(*weights));
	if (!predictor->linear.weights)
		return -ENOMEM;
	predictor->linear.terms = terms;
	memcpy(predictor->linear.weights, weights, terms * sizeof(*weights));
	return 0;
}

static size_t main_feature(const struct model_component *component)
{
	const char *names[PREDICTOR_FEATURES_MAX];

	for (size_t i = 0; i < component->feature_count; i++)
		names[i] = component->features[i].name;
	return feature_main(names, component->feature_count, component->name);
}

static int set_curve(const struct json_source *source, const json_t *weights, const char *place,
		     const char *trainer, struct model_component *component)
{
	CLEANUP_FREE double *numbers = NULL;
	struct predictor *predictor = &component->predictor;
	size_t count;
	int r = json_value_numbers(source, weights, place, CURVE, ARRAY_SIZE(predictor->curve.c),
				   &numbers, &count);

	if (r < 0)
		return r;
	if (count == 4)
		predictor->form = PREDICTOR_LOGISTIC;
	else if (count == 3 && strcmp(trainer, "LogarithmicRegressionTrainer") == 0)
		predictor->form = PREDICTOR_LOGARITHMIC;
	else if (count == 3 && strcmp(trainer, "ExponentialRegressionTrainer") == 0)
		predictor->form = PREDICTOR_EXPONENTIAL;
	else if (count == 3)
		return json_value_refuse(source, place,
					 "three curve weights can be logarithmic or exponential: "
					 "neither \"model_name\" nor the file's name begins with "
					 "the trainer's");
	else
		return json_value_refuse(source, place, "\"" CURVE "\" has %zu weights, not 3 or 4",
					 count);
	predictor->curve.feature = main_feature(component);
	memcpy(predictor->curve.c, numbers, count * sizeof(*numbers));
	return 0;
}

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *digit = c ? strchr(digits, c) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* The length, or SIZE_MAX if it is not base64. @ret has room for three quarters of @text. */
static size_t decode_base64(const char *text, size_t len, char *ret)
{
	uint32_t bits = 0;
	size_t out = 0, in = 0;

	for (; in < len && text[in] != '='; in++) {
		int digit = base64_digit(text[in]);

		if (digit < 0)
			return SIZE_MAX;
		bits = bits << 6 | (uint32_t)digit;
		if (in % 4 > 0)
			ret[out++] = (char)(bits >> (2 * (3 - in % 4)));
	}
	return out;
}

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}

static int set_booster(const struct json_source *source, const json_t *weights, const char *place,
		       struct model_component *component)
{
	const json_t *value = json_object_get(weights, BASE64_XGB);
	const char *text = json_string_value(value);
	CLEANUP(cleanup_json) json_t *root = NULL;
	CLEANUP_FREE char *decoded = NULL;
	size_t len;
	int r;

	if (!text || json_string_length(value) > BOOSTER_MAX)
		return json_value_refuse(source, place, "\"" BASE64_XGB "\" must be base64");
	decoded = malloc(json_string_length(value) + 1);
	if (!decoded)
		return -ENOMEM;
	len = decode_base64(text, json_string_length(value), decoded);
	if (len == SIZE_MAX)
		return json_value_refuse(source, place, "\"" BASE64_XGB "\" must be base64");
	if (!json_is_too_deep(decoded, len))
		root = json_loadb(decoded, len, 0, NULL);
	if (!root)
		return json_value_refuse(source, place, "\"" BASE64_XGB "\" holds no JSON");
	r = xgboost_json_read(source, root, &component->predictor);
	if (r == 0 && component->predictor.features != component->feature_count)
		r = json_value_refuse(source, place, "its trees have %zu features, not %zu",
				      component->predictor.features, component->feature_count);
	return r;
}

static int read_component(const struct json_source *source, const json_t *root, const char *name,
			  const char *trainer, struct model_component *component)
{
	double linear_weights[1 + PREDICTOR_FEATURES_MAX] = { 0 };
	char place[PLACE_MAX];
	const json_t *weights = weights_of(root, name);
	struct diag diag = { "" };
	int r;

	(void)snprintf(component->name, sizeof(component->name), "%s", name);
	(void)snprintf(place, sizeof(place), "%s.All_Weights", name);
	component->minimum_w = component->maximum_w = (double)NAN;
	component->error = (struct model_error){ .mae_w = (double)NAN,
						 .mape_percent = (double)NAN,
						 .bound_w = (double)NAN,
						 .bound_ratio = (double)NAN };
	if (!json_is_object(weights))
		return json_value_refuse(source, place, "must be an object");
	r = read_features(source, weights, place, component, linear_weights);
	if (r < 0)
		return r;
	if (json_object_size(json_object_get(weights, "Categorical_Variables")) > 0)
		return json_value_refuse(source, place,
					 "\"Categorical_Variables\" are not read: there is none "
					 "in any model of version 0.6 or 0.7");
	component->predictor.features = component->feature_count;
	if (json_array_size(json_object_get(weights, CURVE)) > 0)
		r = set_curve(source, weights, place, trainer, component);
	else if (json_object_get(weights, BASE64_XGB))
		r = set_booster(source, weights, place, component);
	else
		r = set_linear(&component->predictor, linear_weights);
	if (r == 0 && predictor_check(&component->predictor, &diag) < 0)
		r = json_value_refuse(source, place, "%s", diag.text);
	return r;
}

int upstream_weights_read(const struct json_source *source, const json_t *root,
			  struct trained_model *model)
{
	int r = read_names(source, root, model);

	if (r == 0)
		r = read_output(source, root, model);
	if (r == 0)
		r = read_machine(source, root, &model->machine);
	if (r < 0)
		return r;
	model->components = calloc(ARRAY_SIZE(component_names), sizeof(*model->components));
	if (!model->components)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(component_names) && r == 0; i++) {
		if (weights_of(root, component_names[i]))
			r = read_component(source, root, component_names[i], model->origin.trainer,
					   &model->components[model->component_count++]);
	}
	return r;
}
