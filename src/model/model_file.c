// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "model/feature.h"

#define PLACE_MAX 64

static const char *const output_names[] = {
	[MODEL_ABS_POWER] = "AbsPower",
	[MODEL_DYN_POWER] = "DynPower",
};

/* The parameters of curves, in the order of predictor.curve.c. */
static const char *const curve_keys[][4] = {
	[PREDICTOR_LOGARITHMIC] = { "a", "b", "c", NULL },
	[PREDICTOR_LOGISTIC] = { "height", "midpoint", "steepness", "offset" },
	[PREDICTOR_EXPONENTIAL] = { "a", "b", "c", NULL },
};

bool model_file_is(const json_t *root)
{
	return json_object_get(root, "format") != NULL;
}

static int read_tree_nodes(const struct json_source *source, const json_t *json, const char *place,
			   struct predictor *predictor)
{
	CLEANUP_FREE uint32_t *left = NULL;
	CLEANUP_FREE uint32_t *feature = NULL;
	CLEANUP_FREE uint32_t *missing = NULL;
	CLEANUP_FREE double *threshold = NULL;
	bool or_equal = json_is_true(json_object_get(json, "or_equal"));
	uint32_t last_feature = (uint32_t)(predictor->features + predictor->trees.ratio_count) - 1;
	size_t count;
	int r = json_value_numbers(source, json, place, "threshold", PREDICTOR_NODES_MAX,
				   &threshold, &count);

	if (r < 0 ||
	    (r = json_value_counts(source, json, place, "left", count, UINT32_MAX, &left)) < 0 ||
	    (r = json_value_counts(source, json, place, "feature", count, last_feature, &feature)) <
		    0 ||
	    (r = json_value_counts(source, json, place, "missing_left", count, 1, &missing)) < 0)
		return r;
	predictor->trees.nodes = calloc(count + 1, sizeof(*predictor->trees.nodes));
	if (!predictor->trees.nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!(fabs(threshold[i]) <= 3.4e38))
			return json_value_refuse(source, place, "\"threshold\"[%zu] is too large",
						 i);
		predictor->trees.nodes[i] = (struct tree_node){
			.left = left[i],
			.feature = (uint16_t)feature[i],
			.missing_left = missing[i] != 0,
			.or_equal = or_equal,
			.threshold = (float)threshold[i],
		};
	}
	predictor->trees.node_count = count;
	return 0;
}

/* Pairs of features, one behind the other: numerator, denominator. */
static int read_ratios(const struct json_source *source, const json_t *json, const char *place,
		       struct predictor *predictor)
{
	CLEANUP_FREE uint32_t *pairs = NULL;
	const json_t *ratios;
	size_t count;
	int r;

	if (!json_object_get(json, "ratios"))
		return 0;
	r = json_value_array(source, json, place, "ratios", 2 * (size_t)PREDICTOR_RATIOS_MAX,
			     &ratios);
	if (r < 0)
		return r;
	count = json_array_size(ratios);
	if (count % 2)
		return json_value_refuse(source, place, "\"ratios\" are pairs, not %zu numbers",
					 count);
	r = json_value_counts(source, json, place, "ratios", count,
			      (uint32_t)predictor->features - 1, &pairs);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count / 2; i++)
		predictor->trees.ratios[i] = (struct feature_ratio){
			.numerator = (uint16_t)pairs[2 * i],
			.denominator = (uint16_t)pairs[2 * i + 1],
		};
	predictor->trees.ratio_count = count / 2;
	return 0;
}

static int read_trees(const struct json_source *source, const json_t *json, const char *place,
		      struct predictor *predictor)
{
	const json_t *roots;
	int r = read_ratios(source, json, place, predictor);

	if (r < 0 || (r = read_tree_nodes(source, json, place, predictor)) < 0 ||
	    (r = json_value_number(source, json, place, "base", &predictor->trees.base)) < 0 ||
	    (r = json_value_number_or(source, json, place, "rate", 1, &predictor->trees.rate)) <
		    0 ||
	    (r = json_value_array(source, json, place, "roots", PREDICTOR_TREES_MAX, &roots)) < 0)
		return r;
	predictor->trees.root_count = json_array_size(roots);
	return json_value_counts(source, json, place, "roots", predictor->trees.root_count,
				 UINT32_MAX, &predictor->trees.roots);
}

static int read_rows(const struct json_source *source, const json_t *json, const char *place,
		     struct predictor *predictor)
{
	uint64_t nearest;
	size_t numbers;
	int r = json_value_numbers(source, json, place, "values", PREDICTOR_ROWS_MAX,
				   &predictor->rows.values, &predictor->rows.row_count);

	if (r < 0 ||
	    (r = json_value_numbers(source, json, place, "rows",
				    predictor->rows.row_count * predictor->features,
				    &predictor->rows.rows, &numbers)) < 0 ||
	    (r = json_value_count(source, json, place, "nearest", PREDICTOR_NEAREST_MAX,
				  &nearest)) < 0 ||
	    (r = json_value_number_or(source, json, place, "gamma", 0, &predictor->rows.gamma)) < 0)
		return r;
	if (numbers != predictor->rows.row_count * predictor->features)
		return json_value_refuse(source, place,
					 "\"rows\" has %zu numbers, not %zu rows of %zu", numbers,
					 predictor->rows.row_count, predictor->features);
	predictor->rows.nearest = nearest;
	return json_value_number_or(source, json, place, "intercept", 0,
				    &predictor->rows.intercept);
}

static int read_curve(const struct json_source *source, const json_t *json, const char *place,
		      struct predictor *predictor)
{
	const char *const *keys = curve_keys[predictor->form];
	uint64_t feature;
	int r = json_value_count(source, json, place, "feature", predictor->features - 1, &feature);

	for (size_t i = 0; i < ARRAY_SIZE(curve_keys[0]) && keys[i] && r == 0; i++)
		r = json_value_number(source, json, place, keys[i], &predictor->curve.c[i]);
	if (r == 0)
		predictor->curve.feature = feature;
	return r;
}

static int read_form(const struct json_source *source, const json_t *json, const char *place,
		     struct predictor *predictor)
{
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		return json_value_numbers(source, json, place, "weights",
					  predictor_terms(predictor->form, predictor->features),
					  &predictor->linear.weights, &predictor->linear.terms);
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		return read_curve(source, json, place, predictor);
	case PREDICTOR_TREES:
		return read_trees(source, json, place, predictor);
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		return read_rows(source, json, place, predictor);
	case PREDICTOR_FORM_COUNT:
		break;
	}
	return json_value_refuse(source, place,
				 "\"form\" must be linear, polynomial, logarithmic, logistic, "
				 "exponential, trees, neighbours or kernel");
}

static int read_predictor(const struct json_source *source, const json_t *component,
			  const char *component_place, size_t features, struct predictor *predictor)
{
	char place[PLACE_MAX], form[32];
	const json_t *json;
	struct diag diag = { "" };
	int r = json_value_object(source, component, component_place, "predictor", &json);

	(void)snprintf(place, sizeof(place), "%s.predictor", component_place);
	if (r == 0)
		r = json_value_text(source, json, place, "form", form, sizeof(form));
	if (r < 0)
		return r;
	memset(predictor, 0, sizeof(*predictor));
	predictor->form = predictor_form_find(form);
	predictor->features = features;
	predictor->log_output = json_is_true(json_object_get(json, "log_output"));
	r = read_form(source, json, place, predictor);
	if (r == 0 && predictor_check(predictor, &diag) < 0)
		r = json_value_refuse(source, place, "%s", diag.text);
	return r;
}

static int read_feature(const struct json_source *source, const json_t *json, const char *place,
			struct model_feature *feature)
{
	char unit[16];
	int r;

	if (!json_is_object(json))
		return json_value_refuse(source, place, "must be an object");
	if ((r = json_value_text(source, json, place, "name", feature->name,
				 sizeof(feature->name))) < 0 ||
	    (r = json_value_text(source, json, place, "unit", unit, sizeof(unit))) < 0 ||
	    (r = json_value_number_or(source, json, place, "scale", 1, &feature->scale)) < 0 ||
	    (r = json_value_number_or(source, json, place, "minimum", (double)NAN,
				      &feature->minimum)) < 0 ||
	    (r = json_value_number_or(source, json, place, "maximum", (double)NAN,
				      &feature->maximum)) < 0)
		return r;
	if (!feature->name[0])
		return json_value_refuse(source, place, "\"name\" is missing");
	if (unit[0] && feature_unit(feature->name)[0] &&
	    strcmp(unit, feature_unit(feature->name)) != 0)
		return json_value_refuse(source, place, "\"%s\" is in %s, not in \"%s\"",
					 feature->name, feature_unit(feature->name), unit);
	if (feature->minimum > feature->maximum)
		return json_value_refuse(source, place, "\"minimum\" is above \"maximum\"");
	return 0;
}

static int read_features(const struct json_source *source, const json_t *json, const char *place,
			 struct model_component *component)
{
	const json_t *features;
	char at[PLACE_MAX + 32];
	int r = json_value_array(source, json, place, "features", PREDICTOR_FEATURES_MAX,
				 &features);
	size_t count;

	if (r < 0)
		return r;
	count = json_array_size(features);
	if (count == 0)
		return json_value_refuse(source, place, "\"features\" is empty");
	component->features = calloc(count, sizeof(*component->features));
	if (!component->features)
		return -ENOMEM;
	component->feature_count = count;
	for (size_t i = 0; i < count && r == 0; i++) {
		(void)snprintf(at, sizeof(at), "%s.features[%zu]", place, i);
		r = read_feature(source, json_array_get(features, i), at, &component->features[i]);
	}
	return r;
}

static int read_error(const struct json_source *source, const json_t *component, const char *place,
		      struct model_error *error)
{
	const json_t *json = json_object_get(component, "error");
	int r;

	if ((r = json_value_number_or(source, json, place, "mae_w", (double)NAN, &error->mae_w)) <
		    0 ||
	    (r = json_value_number_or(source, json, place, "mape_percent", (double)NAN,
				      &error->mape_percent)) < 0 ||
	    (r = json_value_number_or(source, json, place, "bound_w", (double)NAN,
				      &error->bound_w)) < 0 ||
	    (r = json_value_number_or(source, json, place, "bound_ratio", (double)NAN,
				      &error->bound_ratio)) < 0 ||
	    (r = json_value_count(source, json, place, "rows", INT64_MAX, &error->rows)) < 0)
		return r;
	error->blocked = json_is_true(json_object_get(json, "blocked"));
	if (error->mae_w < 0 || error->bound_w < 0 || error->bound_ratio < 0)
		return json_value_refuse(source, place, "an error is negative");
	return 0;
}

static int read_component(const struct json_source *source, const json_t *json, size_t index,
			  struct model_component *component)
{
	char place[PLACE_MAX];
	int r;

	(void)snprintf(place, sizeof(place), "components[%zu]", index);
	if (!json_is_object(json))
		return json_value_refuse(source, place, "must be an object");
	if ((r = json_value_text(source, json, place, "name", component->name,
				 sizeof(component->name))) < 0 ||
	    (r = read_features(source, json, place, component)) < 0 ||
	    (r = read_error(source, json, place, &component->error)) < 0 ||
	    (r = json_value_number_or(source, json, place, "minimum_w", (double)NAN,
				      &component->minimum_w)) < 0 ||
	    (r = json_value_number_or(source, json, place, "maximum_w", (double)NAN,
				      &component->maximum_w)) < 0)
		return r;
	if (!component->name[0])
		return json_value_refuse(source, place, "\"name\" is missing");
	return read_predictor(source, json, place, component->feature_count, &component->predictor);
}

static int read_components(const struct json_source *source, const json_t *root,
			   struct trained_model *model)
{
	const json_t *components;
	int r = json_value_array(source, root, "", "components", MODEL_COMPONENTS_MAX, &components);
	size_t count;

	if (r < 0)
		return r;
	count = json_array_size(components);
	if (count == 0)
		return json_value_refuse(source, "", "\"components\" is empty");
	model->components = calloc(count, sizeof(*model->components));
	if (!model->components)
		return -ENOMEM;
	model->component_count = count;
	for (size_t i = 0; i < count && r == 0; i++)
		r = read_component(source, json_array_get(components, i), i, &model->components[i]);
	return r;
}

static int read_number_u32(const struct json_source *source, const json_t *json, const char *place,
			   const char *key, uint32_t *ret)
{
	uint64_t value;
	int r = json_value_count(source, json, place, key, UINT32_MAX, &value);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

static int read_machine(const struct json_source *source, const json_t *root,
			struct machine_spec *machine)
{
	const json_t *json = json_object_get(root, "machine");
	int r;

	if ((r = json_value_text(source, json, "machine", "vendor", machine->vendor,
				 sizeof(machine->vendor))) < 0 ||
	    (r = json_value_text(source, json, "machine", "processor", machine->processor,
				 sizeof(machine->processor))) < 0 ||
	    (r = read_number_u32(source, json, "machine", "cores", &machine->cores)) < 0 ||
	    (r = read_number_u32(source, json, "machine", "chips", &machine->chips)) < 0 ||
	    (r = read_number_u32(source, json, "machine", "memory_gb", &machine->memory_gb)) < 0 ||
	    (r = read_number_u32(source, json, "machine", "frequency_mhz",
				 &machine->frequency_mhz)) < 0)
		return r;
	return read_number_u32(source, json, "machine", "threads_per_core",
			       &machine->threads_per_core);
}

static int read_origin(const struct json_source *source, const json_t *root,
		       struct model_origin *origin)
{
	const json_t *json = json_object_get(root, "origin");
	int r;

	if ((r = json_value_text(source, json, "origin", "trainer", origin->trainer,
				 sizeof(origin->trainer))) < 0 ||
	    (r = json_value_text(source, json, "origin", "data", origin->data,
				 sizeof(origin->data))) < 0 ||
	    (r = json_value_text(source, json, "origin", "licence", origin->licence,
				 sizeof(origin->licence))) < 0 ||
	    (r = json_value_text(source, json, "origin", "publisher", origin->publisher,
				 sizeof(origin->publisher))) < 0 ||
	    (r = json_value_text(source, json, "origin", "trained_at", origin->trained_at,
				 sizeof(origin->trained_at))) < 0)
		return r;
	return json_value_text(source, json, "origin", "tool", origin->tool, sizeof(origin->tool));
}

static int read_output(const struct json_source *source, const json_t *root,
		       struct trained_model *model)
{
	char text[32];
	unsigned output = 0;
	int r = json_value_text(source, root, "", "output", text, sizeof(text));

	if (r < 0)
		return r;
	while (output < MODEL_OUTPUT_COUNT && strcmp(output_names[output], text) != 0)
		output++;
	if (output == MODEL_OUTPUT_COUNT)
		return json_value_refuse(
			source, "", "\"output\" must be AbsPower or DynPower, not \"%s\"", text);
	model->output = (enum model_output)output;
	return 0;
}

/* A file of a later version may mean something else by the same keys. */
static int read_version(const struct json_source *source, const json_t *root)
{
	char format[32] = "";
	uint64_t version = 0;
	int r = json_value_text(source, root, "", "format", format, sizeof(format));

	if (r == 0)
		r = json_value_count(source, root, "", "version", UINT32_MAX, &version);
	if (r < 0)
		return r;
	if (strcmp(format, MODEL_FILE_FORMAT) != 0 || version != MODEL_FILE_VERSION)
		return json_value_refuse(source, "",
					 "it is \"%s\" version %ju; this program reads \"%s\" "
					 "version %d",
					 format, (uintmax_t)version, MODEL_FILE_FORMAT,
					 MODEL_FILE_VERSION);
	return 0;
}

static int read_node_type(const struct json_source *source, const json_t *root, int32_t *ret)
{
	double type;
	int r = json_value_number_or(source, root, "", "node_type", -1, &type);

	if (r < 0)
		return r;
	if (!(type >= -1 && type <= INT32_MAX) || type > floor(type))
		return json_value_refuse(source, "", "\"node_type\" must be a number from -1 on");
	*ret = (int32_t)type;
	return 0;
}

int model_file_read(const struct json_source *source, const json_t *root,
		    struct trained_model *model)
{
	int r;

	if ((r = read_version(source, root)) < 0 ||
	    (r = json_value_text(source, root, "", "name", model->name, sizeof(model->name))) < 0 ||
	    (r = read_output(source, root, model)) < 0 ||
	    (r = json_value_text(source, root, "", "source", model->source,
				 sizeof(model->source))) < 0 ||
	    (r = json_value_text(source, root, "", "feature_group", model->feature_group,
				 sizeof(model->feature_group))) < 0 ||
	    (r = read_node_type(source, root, &model->node_type)) < 0 ||
	    (r = read_machine(source, root, &model->machine)) < 0 ||
	    (r = read_origin(source, root, &model->origin)) < 0)
		return r;
	return read_components(source, root, model);
}

/* Writes members of one object; each except the first begins with a comma. */
struct writer {
	struct strbuf *out;
	bool first;
};

static void write_key(struct writer *writer, const char *key)
{
	if (!writer->first)
		strbuf_add_char(writer->out, ',');
	writer->first = false;
	strbuf_addf(writer->out, "\"%s\":", key);
}

static void open_object(struct writer *writer, char bracket)
{
	strbuf_add_char(writer->out, bracket);
	writer->first = true;
}

static void close_object(struct writer *writer, char bracket)
{
	strbuf_add_char(writer->out, bracket);
	writer->first = false;
}

static void write_text(struct writer *writer, const char *key, const char *text)
{
	if (!text[0])
		return;
	write_key(writer, key);
	strbuf_add_char(writer->out, '"');
	strbuf_add_json(writer->out, text);
	strbuf_add_char(writer->out, '"');
}

static void add_number(struct strbuf *out, double value)
{
	char text[FORMAT_DOUBLE_MAX];

	strbuf_add(out, text, format_double(text, value));
}

/* Nothing where @value is not known. */
static void write_number(struct writer *writer, const char *key, double value)
{
	if (!isfinite(value))
		return;
	write_key(writer, key);
	add_number(writer->out, value);
}

static void write_count(struct writer *writer, const char *key, uint64_t value)
{
	if (value == 0)
		return;
	write_key(writer, key);
	strbuf_add_u64(writer->out, value);
}

static void write_flag(struct writer *writer, const char *key, bool value)
{
	write_key(writer, key);
	strbuf_add_str(writer->out, value ? "true" : "false");
}

static void write_numbers(struct writer *writer, const char *key, const double *numbers,
			  size_t count)
{
	write_key(writer, key);
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			strbuf_add_char(writer->out, ',');
		add_number(writer->out, numbers[i]);
	}
	strbuf_add_char(writer->out, ']');
}

/* Nine significant digits give the same number of single precision back. */
static void add_single(struct strbuf *out, float value)
{
	char text[32], *comma;
	int len = snprintf(text, sizeof(text), "%.9g", (double)value);

	comma = memchr(text, ',', (size_t)len); /* in the locale of a program that has one */
	if (comma)
		*comma = '.';
	strbuf_add(out, text, (size_t)len);
}

enum node_part { PART_LEFT, PART_FEATURE, PART_THRESHOLD, PART_MISSING };

static void add_node_part(struct strbuf *out, const struct tree_node *node, enum node_part part)
{
	switch (part) {
	case PART_LEFT:
		strbuf_add_u64(out, node->left);
		break;
	case PART_FEATURE:
		strbuf_add_u64(out, node->feature);
		break;
	case PART_THRESHOLD:
		add_single(out, node->threshold);
		break;
	case PART_MISSING:
		strbuf_add_u64(out, node->missing_left);
		break;
	}
}

static void write_nodes(struct writer *writer, const char *key, const struct predictor *predictor,
			enum node_part part)
{
	write_key(writer, key);
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < predictor->trees.node_count; i++) {
		if (i > 0)
			strbuf_add_char(writer->out, ',');
		add_node_part(writer->out, &predictor->trees.nodes[i], part);
	}
	strbuf_add_char(writer->out, ']');
}

static void write_ratios(struct writer *writer, const struct predictor *predictor)
{
	if (predictor->trees.ratio_count == 0)
		return;
	write_key(writer, "ratios");
	for (size_t i = 0; i < predictor->trees.ratio_count; i++)
		strbuf_addf(writer->out, "%c%u,%u", i ? ',' : '[',
			    predictor->trees.ratios[i].numerator,
			    predictor->trees.ratios[i].denominator);
	strbuf_add_char(writer->out, ']');
}

static void write_trees(struct writer *writer, const struct predictor *predictor)
{
	write_number(writer, "base", predictor->trees.base);
	write_number(writer, "rate", predictor->trees.rate);
	if (predictor->trees.node_count > 0)
		write_flag(writer, "or_equal", predictor->trees.nodes[0].or_equal);
	write_ratios(writer, predictor);
	write_key(writer, "roots");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < predictor->trees.root_count; i++)
		strbuf_addf(writer->out, "%s%u", i ? "," : "", predictor->trees.roots[i]);
	strbuf_add_char(writer->out, ']');
	write_nodes(writer, "left", predictor, PART_LEFT);
	write_nodes(writer, "feature", predictor, PART_FEATURE);
	write_nodes(writer, "threshold", predictor, PART_THRESHOLD);
	write_nodes(writer, "missing_left", predictor, PART_MISSING);
}

static void write_curve(struct writer *writer, const struct predictor *predictor)
{
	const char *const *keys = curve_keys[predictor->form];

	write_count(writer, "feature", predictor->curve.feature);
	for (size_t i = 0; i < ARRAY_SIZE(curve_keys[0]) && keys[i]; i++)
		write_number(writer, keys[i], predictor->curve.c[i]);
}

static void write_rows(struct writer *writer, const struct predictor *predictor)
{
	write_count(writer, "nearest", predictor->rows.nearest);
	if (predictor->form == PREDICTOR_KERNEL) {
		write_number(writer, "gamma", predictor->rows.gamma);
		write_number(writer, "intercept", predictor->rows.intercept);
	}
	write_numbers(writer, "values", predictor->rows.values, predictor->rows.row_count);
	write_numbers(writer, "rows", predictor->rows.rows,
		      predictor->rows.row_count * predictor->features);
}

static void write_predictor(struct writer *writer, const struct predictor *predictor)
{
	write_key(writer, "predictor");
	open_object(writer, '{');
	write_text(writer, "form", predictor_form_name(predictor->form));
	if (predictor->log_output)
		write_flag(writer, "log_output", true);
	switch (predictor->form) {
	case PREDICTOR_LINEAR:
	case PREDICTOR_POLYNOMIAL:
		write_numbers(writer, "weights", predictor->linear.weights,
			      predictor->linear.terms);
		break;
	case PREDICTOR_LOGARITHMIC:
	case PREDICTOR_LOGISTIC:
	case PREDICTOR_EXPONENTIAL:
		write_curve(writer, predictor);
		break;
	case PREDICTOR_TREES:
		write_trees(writer, predictor);
		break;
	case PREDICTOR_NEIGHBOURS:
	case PREDICTOR_KERNEL:
		write_rows(writer, predictor);
		break;
	case PREDICTOR_FORM_COUNT:
		break;
	}
	close_object(writer, '}');
}

static void write_features(struct writer *writer, const struct model_component *component)
{
	write_key(writer, "features");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < component->feature_count; i++) {
		const struct model_feature *feature = &component->features[i];

		strbuf_add_str(writer->out, i ? ",\n   " : "\n   ");
		open_object(writer, '{');
		write_text(writer, "name", feature->name);
		write_text(writer, "unit", feature_unit(feature->name));
		write_number(writer, "scale", feature->scale);
		write_number(writer, "minimum", feature->minimum);
		write_number(writer, "maximum", feature->maximum);
		close_object(writer, '}');
	}
	strbuf_add_char(writer->out, ']');
}

static void write_error(struct writer *writer, const struct model_error *error)
{
	write_key(writer, "error");
	open_object(writer, '{');
	write_number(writer, "mae_w", error->mae_w);
	write_number(writer, "mape_percent", error->mape_percent);
	write_number(writer, "bound_w", error->bound_w);
	write_number(writer, "bound_ratio", error->bound_ratio);
	write_count(writer, "rows", error->rows);
	write_flag(writer, "blocked", error->blocked);
	close_object(writer, '}');
}

static void write_components(struct writer *writer, const struct trained_model *model)
{
	write_key(writer, "components");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < model->component_count; i++) {
		const struct model_component *component = &model->components[i];

		strbuf_add_str(writer->out, i ? ",\n " : "\n ");
		open_object(writer, '{');
		write_text(writer, "name", component->name);
		write_number(writer, "minimum_w", component->minimum_w);
		write_number(writer, "maximum_w", component->maximum_w);
		write_error(writer, &component->error);
		write_features(writer, component);
		write_predictor(writer, &component->predictor);
		close_object(writer, '}');
	}
	strbuf_add_char(writer->out, ']');
}

static void write_machine(struct writer *writer, const struct machine_spec *machine)
{
	write_key(writer, "machine");
	open_object(writer, '{');
	write_text(writer, "vendor", machine->vendor);
	write_text(writer, "processor", machine->processor);
	write_count(writer, "cores", machine->cores);
	write_count(writer, "chips", machine->chips);
	write_count(writer, "memory_gb", machine->memory_gb);
	write_count(writer, "frequency_mhz", machine->frequency_mhz);
	write_count(writer, "threads_per_core", machine->threads_per_core);
	close_object(writer, '}');
}

static void write_origin(struct writer *writer, const struct model_origin *origin)
{
	write_key(writer, "origin");
	open_object(writer, '{');
	write_text(writer, "trainer", origin->trainer);
	write_text(writer, "data", origin->data);
	write_text(writer, "licence", origin->licence);
	write_text(writer, "publisher", origin->publisher);
	write_text(writer, "trained_at", origin->trained_at);
	write_text(writer, "tool", origin->tool);
	close_object(writer, '}');
}

int trained_model_write(const struct trained_model *model, struct strbuf *out)
{
	struct writer writer = { .out = out };

	open_object(&writer, '{');
	write_text(&writer, "format", MODEL_FILE_FORMAT);
	write_count(&writer, "version", MODEL_FILE_VERSION);
	write_text(&writer, "name", model->name);
	write_text(&writer, "output", output_names[model->output]);
	write_text(&writer, "source", model->source);
	write_text(&writer, "feature_group", model->feature_group);
	if (model->node_type >= 0) {
		write_key(&writer, "node_type");
		strbuf_add_u64(out, (uint64_t)model->node_type);
	}
	write_machine(&writer, &model->machine);
	write_origin(&writer, &model->origin);
	write_components(&writer, model);
	close_object(&writer, '}');
	strbuf_add_char(out, '\n');
	return strbuf_error(out);
}
