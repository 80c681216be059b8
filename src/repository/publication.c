// SPDX-License-Identifier: Apache-2.0
#include "repository/publication.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "model/processor/processor_name.h"
#include "repository/model_entry.h"
#include "repository/model_json.h"
#include "repository/model_table.h"
#include "repository/node_type.h"
#include "repository/own_group.h"
#include "repository/table_text.h"

#define ERROR_LIMIT        100.0 /* W and % */
#define ERROR_GOOD_W       10.0
#define ERROR_GOOD_PERCENT 20.0
#define PATH_SIZE          1024
#define JSON_FILE_MAX      (16U << 20)
#define FILE_MODE          0644
#define FOLDER_MODE        0755

/* ---- judging ---- */

bool publication_error_is_good(double mae_w, double mape_percent)
{
	return !(mae_w > ERROR_LIMIT) && !(mape_percent > ERROR_LIMIT) &&
	       (mae_w <= ERROR_GOOD_W || mape_percent <= ERROR_GOOD_PERCENT);
}

int publication_judge(const struct trained_model *model, struct diag *diag)
{
	for (size_t i = 0; i < model->component_count; i++) {
		const struct model_component *component = &model->components[i];
		double mae_w = component->error.mae_w, mape = component->error.mape_percent;

		if (isnan(mae_w))
			return diag_set(diag, -ENODATA, "component %s: its error is unknown",
					component->name);
		if (!publication_error_is_good(mae_w, mape))
			return diag_set(diag, -ERANGE,
					"the error of component %s is %.2f W, %.2f %%; the limit "
					"for published models is 10 W or 20 %%",
					component->name, mae_w, mape);
	}
	return 0;
}

/* ---- the model's file ---- */

static json_t *curve_weights(const struct predictor *predictor)
{
	size_t count = predictor->form == PREDICTOR_LOGISTIC ? 4 : 3;
	json_t *weights = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(weights, json_real(predictor->curve.c[i]));
	return weights;
}

/* Upstream's weights of a component, or NULL if its form is not one of upstream's. */
static json_t *component_weights(const struct model_component *component)
{
	const struct predictor *predictor = &component->predictor;
	bool linear = predictor->form == PREDICTOR_LINEAR;
	json_t *all, *numerical, *json;

	if (predictor->log_output ||
	    (!linear && predictor->form != PREDICTOR_LOGARITHMIC &&
	     predictor->form != PREDICTOR_LOGISTIC && predictor->form != PREDICTOR_EXPONENTIAL))
		return NULL;
	all = json_object();
	numerical = json_object();
	json = json_object();
	for (size_t i = 0; i < component->feature_count; i++) {
		json_t *feature = json_object();

		(void)json_object_set_new(feature, "scale",
					  json_real(component->features[i].scale));
		if (linear)
			(void)json_object_set_new(feature, "weight",
						  json_real(predictor->linear.weights[i + 1]));
		(void)json_object_set_new(numerical, component->features[i].name, feature);
	}
	(void)json_object_set_new(all, "Categorical_Variables", json_object());
	(void)json_object_set_new(all, "Numerical_Variables", numerical);
	if (linear)
		(void)json_object_set_new(all, "Bias_Weight",
					  json_real(predictor->linear.weights[0]));
	else
		(void)json_object_set_new(all, "CurveFit_Weights", curve_weights(predictor));
	(void)json_object_set_new(json, "All_Weights", all);
	return json;
}

static bool has_weights(const struct trained_model *model)
{
	json_t *weights;
	bool has = true;

	for (size_t i = 0; has && i < model->component_count; i++) {
		weights = component_weights(&model->components[i]);
		has = weights;
		json_decref(weights);
	}
	return has;
}

int publication_write_model(const struct trained_model *model, const char *name, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf own = STRBUF_INIT;
	CLEANUP(model_json_release) json_t *json = NULL;

	if (trained_model_write(model, &own) < 0)
		return -ENOMEM;
	json = json_loadb(own.data, own.len, 0, NULL);
	if (!json)
		return -ENOMEM;
	if (has_weights(model)) {
		(void)json_object_set_new(json, "model_name", json_string(name));
		for (size_t i = 0; i < model->component_count; i++)
			(void)json_object_set_new(json, model->components[i].name,
						  component_weights(&model->components[i]));
	}
	return model_json_dump(json, out) ? 0 : -ENOMEM;
}

/* ---- files of the pipeline ---- */

struct place {
	const struct publication *publication;
	char pipeline[PATH_SIZE]; /* its folder */
	struct diag *diag;
};

static bool is_plain_name(const char *text)
{
	if (!*text || *text == '.' || strlen(text) >= PUBLICATION_NAME_MAX)
		return false;
	for (; *text; text++)
		if (!ascii_is_alnum(*text) && !strchr("._-", *text))
			return false;
	return true;
}

int publication_write_file(const char *folder, const char *file, const void *data, size_t len,
			   struct diag *diag)
{
	char path[PATH_SIZE];
	int r = path_join(path, sizeof(path), folder, file);

	for (char *slash = r == 0 ? strchr(path + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, FOLDER_MODE); /* a failure here fails again below */
		*slash = '/';
	}
	if (r == 0)
		r = write_file_atomic(path, data, len, FILE_MODE);
	return r < 0 ? diag_set(diag, r, "%s/%s: cannot be written: %s", folder, file,
				strerrordesc_np(-r))
		     : 0;
}

static int write_text(const struct place *place, const char *file, const struct strbuf *text)
{
	int r = strbuf_error(text);

	return r < 0 ? diag_set(place->diag, r, "out of memory")
		     : publication_write_file(place->pipeline, file, text->data, text->len,
					      place->diag);
}

/* The object in @file, an empty one without a file; NULL with a diagnosis. */
static json_t *read_object(const struct place *place, const char *file)
{
	CLEANUP_FREE char *text = NULL;
	char path[PATH_SIZE];
	size_t len = 0;
	int r = path_join(path, sizeof(path), place->pipeline, file);

	if (r == 0)
		r = read_file_alloc(path, JSON_FILE_MAX, &text, &len);
	if (r == -ENOENT)
		return json_object();
	if (r < 0) {
		(void)diag_set(place->diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
		return NULL;
	}
	return model_json_parse(path, text, len, place->diag);
}

static int write_object(const struct place *place, const char *file, const json_t *json)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (!model_json_dump(json, &text))
		return diag_set(place->diag, -ENOMEM, "out of memory");
	return write_text(place, file, &text);
}

/* ---- node types ---- */

static bool is_same_machine(const struct machine_spec *a, const struct machine_spec *b)
{
	return strcmp(a->processor, b->processor) == 0 && a->cores == b->cores &&
	       a->chips == b->chips && a->memory_gb == b->memory_gb &&
	       a->frequency_mhz == b->frequency_mhz;
}

/* The number of the machine's type: an existing one, or the next free one. */
static int64_t number_of(const json_t *index, const struct machine_spec *machine)
{
	int64_t next = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)index, key, value)
	{
		struct machine_spec own;
		uint64_t number;

		if (parse_u64(key, strlen(key), &number) < 0 || number >= INT32_MAX)
			continue;
		machine_spec_read(json_object_get(value, "attrs"), &own);
		if (is_same_machine(&own, machine))
			return (int64_t)number;
		if ((int64_t)number >= next)
			next = (int64_t)number + 1;
	}
	return next;
}

/* The processor is compared as it is read: a name in other words is the same processor. */
static int take_node_type(const struct place *place, const struct machine_spec *given, int32_t *ret)
{
	struct machine_spec machine = *given;
	CLEANUP(model_json_release) json_t *index = read_object(place, "node_type_index.json");
	json_t *type;
	char key[FORMAT_U64_MAX + 1];

	if (!index)
		return -EINVAL;
	processor_name(given->processor, machine.processor, sizeof(machine.processor));
	*ret = (int32_t)number_of(index, &machine);
	(void)snprintf(key, sizeof(key), "%d", *ret);
	if (json_object_get(index, key))
		return 0;
	type = json_object();
	(void)json_object_set_new(type, "attrs", machine_spec_write(&machine));
	(void)json_object_set_new(type, "members", json_array());
	(void)json_object_set_new(index, key, type);
	return write_object(place, "node_type_index.json", index);
}

/* ---- the table ---- */

static void set_error(json_t *row, const char *key, double value)
{
	(void)json_object_set_new(row, key, json_real(isnan(value) ? -1 : value));
}

/* The model's error is the largest of its components, as upstream's. */
static void set_errors(json_t *row, const struct trained_model *model)
{
	double mae_w = 0, mape = 0;
	char key[PUBLICATION_NAME_MAX];

	for (size_t i = 0; i < model->component_count; i++) {
		const struct model_component *component = &model->components[i];

		(void)snprintf(key, sizeof(key), "%s_mae", component->name);
		set_error(row, key, component->error.mae_w);
		(void)snprintf(key, sizeof(key), "%s_mape", component->name);
		set_error(row, key, component->error.mape_percent);
		mae_w = fmax(mae_w, component->error.mae_w);
		mape = fmax(mape, component->error.mape_percent);
	}
	set_error(row, "mae", mae_w);
	set_error(row, "mape", mape);
}

static json_t *row_of(const struct trained_model *model, const char *name, const char *group,
		      int32_t node_type)
{
	const char *features_of_all[OWN_GROUP_FEATURES_MAX];
	size_t feature_count = own_group_features(model, features_of_all);
	json_t *row = json_object(), *features = json_array();
	bool linear = model->components[0].predictor.form == PREDICTOR_LINEAR;
	char file[PUBLICATION_NAME_MAX + 8];

	(void)snprintf(file, sizeof(file), "%s.json", name);
	for (size_t i = 0; i < feature_count; i++)
		(void)json_array_append_new(features, json_string(features_of_all[i]));
	(void)json_object_set_new(row, "model_name", json_string(name));
	(void)json_object_set_new(row, "model_class",
				  json_string(!has_weights(model) ? "kepler"
					      : linear            ? "scikit"
								  : "curvefit"));
	(void)json_object_set_new(row, "model_file", json_string(file));
	(void)json_object_set_new(row, "features", features);
	(void)json_object_set_new(row, "fe_files", json_array());
	(void)json_object_set_new(row, "output_type",
				  json_string(model_output_name(model->output)));
	(void)json_object_set_new(row, "trainer", json_string(model->origin.trainer));
	(void)json_object_set_new(row, "node_type", json_integer(node_type));
	(void)json_object_set_new(row, "feature_group", json_string(group));
	set_errors(row, model);
	return row;
}

struct rows {
	json_t *kept;
	const json_t *fresh;
};

/* All rows but the one that is replaced. */
static int keep_row(void *userdata, const json_t *row)
{
	struct rows *rows = userdata;
	bool same = strcmp(model_json_text(row, "model_name"),
			   model_json_text(rows->fresh, "model_name")) == 0 &&
		    strcmp(model_json_text(row, "feature_group"),
			   model_json_text(rows->fresh, "feature_group")) == 0;

	return same || json_array_append_new(rows->kept, json_copy((json_t *)(uintptr_t)row)) == 0
		       ? 0
		       : -ENOMEM;
}

static int write_row(const struct place *place, const struct trained_model *model, json_t *fresh)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(model_json_release) json_t *kept = json_array();
	CLEANUP_FREE char *old = NULL;
	struct rows rows = { kept, fresh };
	char file[PUBLICATION_NAME_MAX], path[PATH_SIZE];
	size_t len = 0;
	int r;

	(void)snprintf(file, sizeof(file), "%.40s_%s_model_metadata.csv", model->source,
		       model_output_name(model->output));
	r = path_join(path, sizeof(path), place->pipeline, file);
	if (r == 0)
		r = read_file_alloc(path, MODEL_TABLE_MAX, &old, &len);
	if (r < 0 && r != -ENOENT)
		return diag_set(place->diag, r, "%s: cannot be read: %s", path,
				strerrordesc_np(-r));
	if (r == 0)
		r = model_table_read(path, old, len, keep_row, &rows, place->diag);
	else
		r = 0;
	if (r == 0)
		r = json_array_append(kept, fresh) == 0 ? table_text_write(kept, &text) : -ENOMEM;
	return r < 0 ? r : write_text(place, file, &text);
}

static int write_metadata(const struct place *place)
{
	CLEANUP(model_json_release) json_t *metadata = read_object(place, "metadata.json");

	if (!metadata)
		return -EINVAL;
	(void)json_object_set_new(metadata, "name", json_string(place->publication->pipeline));
	if (*place->publication->publisher)
		(void)json_object_set_new(metadata, "publisher",
					  json_string(place->publication->publisher));
	return write_object(place, "metadata.json", metadata);
}

/* ---- all of it ---- */

static int check(const struct publication *publication, const struct trained_model *model,
		 const char *group, struct diag *diag)
{
	if (!is_plain_name(publication->pipeline))
		return diag_set(diag, -EINVAL,
				"the pipeline's name must have letters, digits, \".\", \"-\" and "
				"\"_\" only");
	if (!is_plain_name(model->source))
		return diag_set(diag, -EINVAL, "the model does not name its energy source");
	if (!is_plain_name(group))
		return diag_set(diag, -EINVAL,
				"the model's feature_group must have letters, digits, \".\", \"-\" "
				"and \"_\" only");
	if (!is_plain_name(model->origin.trainer))
		return diag_set(diag, -EINVAL, "the model does not name its trainer");
	if (machine_spec_is_empty(&model->machine))
		return diag_set(diag, -EINVAL,
				"the model does not name its machine: use --machine-spec");
	return trained_model_check(model, diag);
}

int publication_add(const struct publication *publication, const struct trained_model *model,
		    char ret_path[PUBLICATION_NAME_MAX * 4], struct diag *diag)
{
	struct place place = { .publication = publication, .diag = diag };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(model_json_release) json_t *row = NULL;
	char name[PUBLICATION_NAME_MAX], file[PUBLICATION_NAME_MAX * 3], group[ENTRY_NAME_MAX];
	int32_t number = 0;
	int r;

	own_group_name(model, group);
	r = check(publication, model, group, diag);
	if (r == 0)
		r = path_join(place.pipeline, sizeof(place.pipeline), publication->root,
			      publication->pipeline);
	if (r == 0)
		r = take_node_type(&place, &model->machine, &number);
	if (r < 0)
		return r;
	(void)snprintf(name, sizeof(name), "%.48s_%d", model->origin.trainer, number);
	(void)snprintf(file, sizeof(file), "%s/%s/%s/%s.json", model->source,
		       model_output_name(model->output), group, name);
	r = publication_write_model(model, name, &text);
	if (r == 0)
		r = write_text(&place, file, &text);
	row = r == 0 ? row_of(model, name, group, number) : NULL;
	if (r == 0)
		r = row ? write_row(&place, model, row) : -ENOMEM;
	if (r == 0)
		r = write_metadata(&place);
	if (r == 0)
		(void)snprintf(ret_path, PUBLICATION_NAME_MAX * 4, "%s/%s", publication->pipeline,
			       file);
	return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
}
