// SPDX-License-Identifier: Apache-2.0
#include "repository/model_report.h"

#include <math.h>
#include <string.h>

static void set_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		(void)json_object_set_new(object, key, json_string(text));
}

static void set_number(json_t *object, const char *key, double number)
{
	if (isfinite(number))
		(void)json_object_set_new(object, key, json_real(number));
}

static json_t *names_of(const char *features)
{
	json_t *names = json_array();

	while (names && *features) {
		size_t len = strcspn(features, ",");

		(void)json_array_append_new(names, json_stringn(features, len));
		features += len + (features[len] == ',');
	}
	return names;
}

static json_t *errors_of(const struct model_entry *entry)
{
	json_t *errors = json_object(), *components = json_object();

	set_number(errors, "mae_watts", entry->mae_w);
	set_number(errors, "mape_percent", entry->mape_percent);
	for (size_t i = 0; i < entry->error_count; i++) {
		json_t *error = json_object();

		set_number(error, "mae_watts", entry->errors[i].mae_w);
		set_number(error, "mape_percent", entry->errors[i].mape_percent);
		(void)json_object_set_new(components, entry->errors[i].component, error);
	}
	(void)json_object_set_new(errors, "components", components);
	return errors;
}

static void set_file(json_t *files, const char *form, const struct repository *repository,
		     const struct model_entry *entry, enum model_file file)
{
	char path[REPOSITORY_PATH_MAX];

	if (entry->files & file &&
	    repository_path(repository, entry, file, path, sizeof(path)) == 0)
		(void)json_object_set_new(files, form, json_string(path));
}

json_t *model_report(const struct repository *repository, const struct model_entry *entry)
{
	json_t *report = json_object(), *files = json_object();

	if (!report || !files) {
		json_decref(report);
		json_decref(files);
		return NULL;
	}
	set_text(report, "name", entry->name);
	set_text(report, "pipeline", repository->pipelines[entry->pipeline].name);
	set_text(report, "source", entry->source);
	set_text(report, "output_type", model_output_name(entry->output));
	set_text(report, "feature_group", entry->group);
	(void)json_object_set_new(report, "features", names_of(entry->features));
	set_text(report, "trainer", entry->trainer);
	set_text(report, "class", entry->kind);
	if (entry->node_type >= 0)
		(void)json_object_set_new(report, "node_type", json_integer(entry->node_type));
	if (!machine_spec_is_empty(&entry->machine))
		(void)json_object_set_new(report, "machine_spec",
					  machine_spec_write(&entry->machine));
	(void)json_object_set_new(report, "error", errors_of(entry));
	set_file(files, "weights", repository, entry, FILE_WEIGHTS);
	set_file(files, "archive", repository, entry, FILE_ARCHIVE);
	(void)json_object_set_new(report, "files", files);
	return report;
}

json_t *choice_report(const struct choice *choice)
{
	json_t *report = json_object();

	set_text(report, "kind", model_match_name(choice->match));
	set_number(report, "looseness", choice->looseness);
	set_number(report, "uncertainty", choice->uncertainty);
	set_number(report, "expected_error_percent", choice->expected_error * 100);
	set_number(report, "core_ratio", choice->core_ratio);
	return report;
}
