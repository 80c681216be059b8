// SPDX-License-Identifier: Apache-2.0
#include "repository/model_load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "repository/archive.h"
#include "repository/model_json.h"

/* ---- knowledge of the repository about the model ---- */

static const struct entry_error *error_of(const struct model_entry *entry, const char *component)
{
	for (size_t i = 0; i < entry->error_count; i++)
		if (strcmp(entry->errors[i].component, component) == 0)
			return &entry->errors[i];
	return NULL;
}

static void take_facts(const struct model_entry *entry, struct trained_model *model)
{
	(void)snprintf(model->name, sizeof(model->name), "%s", entry->name);
	(void)snprintf(model->source, sizeof(model->source), "%s", entry->source);
	(void)snprintf(model->feature_group, sizeof(model->feature_group), "%s", entry->group);
	(void)snprintf(model->origin.trainer, sizeof(model->origin.trainer), "%s", entry->trainer);
	model->output = entry->output;
	model->node_type = entry->node_type;
	if (!machine_spec_is_empty(&entry->machine))
		model->machine = entry->machine;
	for (size_t i = 0; i < model->component_count; i++) {
		struct model_component *component = &model->components[i];
		const struct entry_error *error = error_of(entry, component->name);

		if (!error)
			continue;
		component->error.mae_w = error->mae_w;
		component->error.mape_percent = error->mape_percent;
	}
}

/* ---- weights, and files of our own ---- */

static int load_text(const struct repository *repository, const struct model_entry *entry,
		     struct trained_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = repository_read(repository, entry, FILE_WEIGHTS, &text, &len, diag);

	return r < 0 ? r : trained_model_parse(ret, entry->name, text, len, diag);
}

/* ---- trees in an archive ---- */

/* The model with weights that was trained on the same rows, or NULL. */
static const struct model_entry *find_sibling(const struct repository *repository,
					      const struct model_entry *entry)
{
	const struct pipeline *pipeline = &repository->pipelines[entry->pipeline];

	for (size_t i = pipeline->first; i < pipeline->first + pipeline->count; i++) {
		const struct model_entry *other = &repository->entries[i];

		if (other != entry && other->files & FILE_WEIGHTS &&
		    strcmp(other->kind, "kepler") != 0 && other->output == entry->output &&
		    other->node_type == entry->node_type &&
		    strcmp(other->group, entry->group) == 0 &&
		    strcmp(other->source, entry->source) == 0)
			return other;
	}
	return NULL;
}

/* Scales by the feature's name, from the first component of @sibling. */
static int take_scales(const struct trained_model *sibling, struct model_component *component,
		       struct diag *diag)
{
	const struct model_component *known = &sibling->components[0];

	for (size_t i = 0; i < component->feature_count; i++) {
		struct model_feature *feature = &component->features[i];
		size_t k = 0;

		while (k < known->feature_count &&
		       strcmp(known->features[k].name, feature->name) != 0)
			k++;
		if (k == known->feature_count)
			return diag_set(diag, -EINVAL,
					"%s: no model next to it has the scale of %s",
					component->name, feature->name);
		feature->scale = known->features[k].scale;
		feature->maximum = known->features[k].maximum;
	}
	return 0;
}

struct trees {
	const struct archive *archive;
	struct trained_model *model;  /* the model under construction */
	struct trained_model sibling; /* all zero: features are not scaled */
	struct diag *diag;
};

static int name_features(const json_t *part, struct model_component *component, struct diag *diag)
{
	const json_t *names = json_object_get(part, "features");

	if (json_array_size(names) != component->feature_count)
		return diag_set(diag, -EINVAL,
				"%s: the archive names %zu features, the trees have %zu",
				component->name, json_array_size(names), component->feature_count);
	for (size_t i = 0; i < component->feature_count; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		struct model_feature *feature = &component->features[i];

		if (!name || !*name || strlen(name) >= sizeof(feature->name))
			return diag_set(diag, -EINVAL, "%s: a feature has no name that can be used",
					component->name);
		(void)snprintf(feature->name, sizeof(feature->name), "%s", name);
	}
	return 0;
}

/* The trees of one component, which is appended to the model. */
static int load_component(struct trees *trees, const char *name, const json_t *part)
{
	struct trained_model single = { 0 };
	const char *file = model_json_text(part, "model_file");
	size_t index = archive_find(trees->archive, file), len = 0;
	CLEANUP_FREE char *text = NULL;
	bool scaled = json_array_size(json_object_get(part, "fe_files")) > 0;
	int r;

	if (index == SIZE_MAX)
		return diag_set(trees->diag, -EINVAL, "%s: the archive lacks its file", name);
	if (scaled && !trees->sibling.component_count)
		return diag_set(
			trees->diag, -EINVAL,
			"%s: features are scaled, and the scale is in a pickle, which is never "
			"loaded; add weights of the same node type, which have the scale, too",
			name);
	r = archive_read(trees->archive, index, &text, &len, trees->diag);
	if (r == 0)
		r = trained_model_parse(&single, file, text, len, trees->diag);
	if (r == 0 && single.component_count != 1)
		r = diag_set(trees->diag, -EINVAL, "%s: must have one component", file);
	if (r == 0) {
		(void)snprintf(single.components[0].name, sizeof(single.components[0].name), "%s",
			       name);
		r = name_features(part, &single.components[0], trees->diag);
	}
	if (r == 0 && scaled)
		r = take_scales(&trees->sibling, &single.components[0], trees->diag);
	if (r == 0) {
		trees->model->components[trees->model->component_count++] = single.components[0];
		single.component_count = 0;
	}
	trained_model_release(&single);
	return r;
}

static int load_components(struct trees *trees, const json_t *parts)
{
	const char *name;
	json_t *part;
	int r = 0;

	if (json_object_size(parts) == 0 || json_object_size(parts) > MODEL_COMPONENTS_MAX)
		return diag_set(trees->diag, -EINVAL, "must have 1 to %d components",
				MODEL_COMPONENTS_MAX);
	trees->model->components =
		calloc(json_object_size(parts), sizeof(*trees->model->components));
	if (!trees->model->components)
		return diag_set(trees->diag, -ENOMEM, "out of memory");
	json_object_foreach((json_t *)(uintptr_t)parts, name, part)
	{
		r = load_component(trees, name, part);
		if (r < 0)
			break;
	}
	return r;
}

/* The archive's list of components: the file that is named as the model is. */
static json_t *read_parts(const struct archive *archive, const char *model, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	char file[ENTRY_NAME_MAX + 8];
	size_t index, len = 0;

	(void)snprintf(file, sizeof(file), "%s.json", model);
	index = archive_find(archive, file);
	if (index == SIZE_MAX) {
		(void)diag_set(diag, -EINVAL, "%s: the archive lacks %s", model, file);
		return NULL;
	}
	if (archive_read(archive, index, &text, &len, diag) < 0)
		return NULL;
	return model_json_parse(file, text, len, diag);
}

static int load_trees(const struct repository *repository, const struct model_entry *entry,
		      struct trained_model *ret, struct diag *diag)
{
	const struct model_entry *sibling = find_sibling(repository, entry);
	CLEANUP(archive_cleanup) struct archive *archive = NULL;
	CLEANUP(model_json_release) json_t *parts = NULL;
	CLEANUP_FREE char *bytes = NULL;
	struct trees trees = { .model = ret, .diag = diag };
	size_t len = 0;
	int r = repository_read(repository, entry, FILE_ARCHIVE, &bytes, &len, diag);

	if (r == 0)
		r = archive_open(entry->name, bytes, len, &archive, diag);
	if (r < 0)
		return r;
	trees.archive = archive;
	parts = read_parts(archive, entry->name, diag);
	if (!parts)
		return -EINVAL;
	/* An unreadable model counts as missing. */
	if (sibling && load_text(repository, sibling, &trees.sibling, NULL) < 0)
		trees.sibling = (struct trained_model){ 0 };
	r = load_components(&trees, parts);
	trained_model_release(&trees.sibling);
	return r;
}

int model_load(const struct repository *repository, const struct model_entry *entry,
	       struct trained_model *ret, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	struct diag why = { "" };
	int r;

	if (entry->files & FILE_WEIGHTS && !entry->weights_are_bad)
		r = load_text(repository, entry, &model, &why);
	else if (model_entry_is_pickled(entry))
		r = diag_set(
			&why, -EINVAL,
			"it is a pickle, which is never loaded, because that would run the code "
			"in it; train it again with kepler-model");
	else if (entry->files & FILE_ARCHIVE)
		r = load_trees(repository, entry, &model, &why);
	else
		r = diag_set(&why, -EINVAL, "its weights are bad: see kepler-model repo verify");
	if (r == 0) {
		take_facts(entry, &model);
		r = trained_model_check(&model, &why);
	}
	if (r < 0)
		return diag_set(diag, r, "%s/%s/%s: %s",
				repository->pipelines[entry->pipeline].name, entry->group,
				entry->name, why.text);
	*ret = model;
	model = (struct trained_model){ 0 };
	return 0;
}
