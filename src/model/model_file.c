// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/feature.h"
#include "model/json_writer.h"
#include "model/predictor_json.h"

#define PLACE_MAX 64

static const char *const output_names[] = {
	[MODEL_ABS_POWER] = "AbsPower",
	[MODEL_DYN_POWER] = "DynPower",
};

bool model_file_is(const json_t *root)
{
	return json_object_get(root, "format") != NULL;
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
	return predictor_json_read(source, json, place, component->feature_count,
				   &component->predictor);
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

static void write_features(struct json_writer *writer, const struct model_component *component)
{
	json_key(writer, "features");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < component->feature_count; i++) {
		const struct model_feature *feature = &component->features[i];

		strbuf_add_str(writer->out, i ? ",\n   " : "\n   ");
		json_open(writer, '{');
		json_write_text(writer, "name", feature->name);
		json_write_text(writer, "unit", feature_unit(feature->name));
		json_write_number(writer, "scale", feature->scale);
		json_write_number(writer, "minimum", feature->minimum);
		json_write_number(writer, "maximum", feature->maximum);
		json_close(writer, '}');
	}
	strbuf_add_char(writer->out, ']');
}

static void write_error(struct json_writer *writer, const struct model_error *error)
{
	json_key(writer, "error");
	json_open(writer, '{');
	json_write_number(writer, "mae_w", error->mae_w);
	json_write_number(writer, "mape_percent", error->mape_percent);
	json_write_number(writer, "bound_w", error->bound_w);
	json_write_number(writer, "bound_ratio", error->bound_ratio);
	json_write_count(writer, "rows", error->rows);
	json_write_flag(writer, "blocked", error->blocked);
	json_close(writer, '}');
}

static void write_components(struct json_writer *writer, const struct trained_model *model)
{
	json_key(writer, "components");
	strbuf_add_char(writer->out, '[');
	for (size_t i = 0; i < model->component_count; i++) {
		const struct model_component *component = &model->components[i];

		strbuf_add_str(writer->out, i ? ",\n " : "\n ");
		json_open(writer, '{');
		json_write_text(writer, "name", component->name);
		json_write_number(writer, "minimum_w", component->minimum_w);
		json_write_number(writer, "maximum_w", component->maximum_w);
		write_error(writer, &component->error);
		write_features(writer, component);
		predictor_json_write(writer, &component->predictor);
		json_close(writer, '}');
	}
	strbuf_add_char(writer->out, ']');
}

static void write_machine(struct json_writer *writer, const struct machine_spec *machine)
{
	json_key(writer, "machine");
	json_open(writer, '{');
	json_write_text(writer, "vendor", machine->vendor);
	json_write_text(writer, "processor", machine->processor);
	json_write_count(writer, "cores", machine->cores);
	json_write_count(writer, "chips", machine->chips);
	json_write_count(writer, "memory_gb", machine->memory_gb);
	json_write_count(writer, "frequency_mhz", machine->frequency_mhz);
	json_write_count(writer, "threads_per_core", machine->threads_per_core);
	json_close(writer, '}');
}

static void write_origin(struct json_writer *writer, const struct model_origin *origin)
{
	json_key(writer, "origin");
	json_open(writer, '{');
	json_write_text(writer, "trainer", origin->trainer);
	json_write_text(writer, "data", origin->data);
	json_write_text(writer, "licence", origin->licence);
	json_write_text(writer, "publisher", origin->publisher);
	json_write_text(writer, "trained_at", origin->trained_at);
	json_write_text(writer, "tool", origin->tool);
	json_close(writer, '}');
}

int trained_model_write(const struct trained_model *model, struct strbuf *out)
{
	struct json_writer writer = { .out = out };

	json_open(&writer, '{');
	json_write_text(&writer, "format", MODEL_FILE_FORMAT);
	json_write_count(&writer, "version", MODEL_FILE_VERSION);
	json_write_text(&writer, "name", model->name);
	json_write_text(&writer, "output", output_names[model->output]);
	json_write_text(&writer, "source", model->source);
	json_write_text(&writer, "feature_group", model->feature_group);
	if (model->node_type >= 0) {
		json_key(&writer, "node_type");
		strbuf_add_u64(out, (uint64_t)model->node_type);
	}
	write_machine(&writer, &model->machine);
	write_origin(&writer, &model->origin);
	write_components(&writer, model);
	json_close(&writer, '}');
	strbuf_add_char(out, '\n');
	return strbuf_error(out);
}
