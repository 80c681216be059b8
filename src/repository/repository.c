// SPDX-License-Identifier: Apache-2.0
#include "repository/repository.h"

#include <errno.h>
#include <fts.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "model/feature.h"
#include "repository/archive.h"
#include "repository/model_json.h"
#include "repository/model_table.h"

#define INDEX_MAX    (16U << 20) /* bytes of node_type_index.json */
#define METADATA_MAX (1U << 20)
#define FILES_MAX    1000000 /* that a fingerprint looks at */

/* ---- what went wrong ---- */

static const char *note_problem(struct repository *repository, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The line, or NULL if it is only counted. */
static const char *note_problem(struct repository *repository, const char *fmt, ...)
{
	size_t i = repository->problem_count++;
	va_list ap;

	if (i >= REPOSITORY_PROBLEMS_MAX)
		return NULL;
	va_start(ap, fmt);
	if (vasprintf(&repository->problems[i], fmt, ap) < 0)
		repository->problems[i] = NULL;
	va_end(ap);
	return repository->problems[i];
}

/* ---- folders ---- */

static bool is_folder(const struct repository *repository, const char *path)
{
	return file_tree_kind(repository->tree, path) == FILE_TREE_FOLDER;
}

static bool has_folder(const struct repository *repository, const char *path, const char *name)
{
	char below[REPOSITORY_PATH_MAX];

	return path_join(below, sizeof(below), path, name) == 0 && is_folder(repository, below);
}

static bool is_source(const struct repository *repository, const char *path)
{
	return is_folder(repository, path) &&
	       (has_folder(repository, path, model_output_name(MODEL_ABS_POWER)) ||
		has_folder(repository, path, model_output_name(MODEL_DYN_POWER)));
}

/* Returns true if a folder with these @names in it has a source of energy. */
static bool is_pipeline(const struct repository *repository, const char *path,
			const struct tree_names *names)
{
	char source[REPOSITORY_PATH_MAX];

	for (size_t i = 0; i < names->count; i++)
		if (path_join(source, sizeof(source), path, names->list[i]) == 0 &&
		    is_source(repository, source))
			return true;
	return false;
}

/* ---- the models of a folder ---- */

static const char *keep_features(struct repository *repository, char *features)
{
	for (size_t i = repository->feature_count; i > 0; i--)
		if (strcmp(repository->features[i - 1], features) == 0) {
			free(features);
			return repository->features[i - 1];
		}
	if (ARRAY_RESERVE(repository->features, repository->feature_size,
			  repository->feature_count + 1) < 0) {
		free(features);
		return "";
	}
	repository->features[repository->feature_count++] = features;
	return features;
}

/* The features that the group's name stands for; "" if the group is unknown. */
static const char *features_of_group(struct repository *repository, const char *name)
{
	const struct feature_group *group = feature_group_find(name);
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; group && group->features[i]; i++)
		strbuf_addf(&text, "%s%s", i ? "," : "", group->features[i]);
	if (!text.len || strbuf_error(&text) < 0) {
		strbuf_release(&text);
		return "";
	}
	return keep_features(repository, text.data);
}

/* "NAME.zip" → which file it is, and the length of NAME; 0: no model's. */
static unsigned file_of(const char *name, size_t *ret_len)
{
	const char *end = strrchr(name, '.');

	if (!end)
		return 0;
	*ret_len = (size_t)(end - name);
	return strcmp(end, ".json") == 0  ? FILE_WEIGHTS
	       : strcmp(end, ".zip") == 0 ? FILE_ARCHIVE
					  : 0;
}

static int add_file(struct repository *repository, const struct model_entry *place,
		    const char *name)
{
	struct model_entry entry = *place;
	struct model_entry *last = NULL;
	char base[ENTRY_NAME_MAX];
	size_t len = 0;
	unsigned file = file_of(name, &len);

	if (!file || len >= sizeof(base))
		return 0;
	(void)snprintf(base, sizeof(base), "%.*s", (int)len, name);
	if (!model_entry_take_name(&entry, base))
		return 0;
	if (repository->entry_count > repository->pipelines[entry.pipeline].first)
		last = &repository->entries[repository->entry_count - 1];
	if (last && last->output == entry.output && strcmp(last->name, base) == 0 &&
	    strcmp(last->group, entry.group) == 0 && strcmp(last->source, entry.source) == 0) {
		last->files |= file;
		return 0;
	}
	if (repository->entry_count == REPOSITORY_MODELS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(repository->entries, repository->entry_size,
			  repository->entry_count + 1) < 0)
		return -ENOMEM;
	entry.files = file;
	repository->entries[repository->entry_count++] = entry;
	return 0;
}

static int add_group(struct repository *repository, const char *path,
		     const struct model_entry *place)
{
	CLEANUP(tree_names_release) struct tree_names names = { .count = 0 };
	char file[REPOSITORY_PATH_MAX];
	int r = file_tree_list(repository->tree, path, &names);

	for (size_t i = 0; r == 0 && i < names.count; i++)
		if (path_join(file, sizeof(file), path, names.list[i]) == 0 &&
		    file_tree_kind(repository->tree, file) == FILE_TREE_FILE)
			r = add_file(repository, place, names.list[i]);
	return r;
}

/* ---- what is known of them ---- */

struct table {
	struct repository *repository;
	struct model_entry *entries; /* of one source and output */
	size_t count;
};

static int by_group_and_name(const void *a, const void *b)
{
	const struct model_entry *one = a, *other = b;
	int order = strcmp(one->group, other->group);

	return order ? order : strcmp(one->name, other->name);
}

static void take_metadata(struct repository *repository, struct model_entry *entry,
			  const json_t *metadata)
{
	char *features = NULL;

	if (model_entry_take_metadata(entry, metadata, &features) == 0 && features)
		entry->features = keep_features(repository, features);
}

static int take_row(void *userdata, const json_t *row)
{
	struct table *table = userdata;
	struct model_entry key = { 0 }, *found;

	(void)snprintf(key.group, sizeof(key.group), "%s", model_json_text(row, "feature_group"));
	(void)snprintf(key.name, sizeof(key.name), "%s", model_json_text(row, "model_name"));
	if (!table->count)
		return 0;
	found = bsearch(&key, table->entries, table->count, sizeof(key), by_group_and_name);
	if (found)
		take_metadata(table->repository, found, row);
	return 0;
}

static void read_table(struct repository *repository, const char *path, const char *source,
		       enum model_output output, size_t first)
{
	struct table table = { repository, repository->entries + first,
			       repository->entry_count - first };
	CLEANUP_FREE char *text = NULL;
	struct diag diag = { "" };
	char name[96], file[REPOSITORY_PATH_MAX];
	size_t len = 0;

	(void)snprintf(name, sizeof(name), "%s_%s_model_metadata.csv", source,
		       model_output_name(output));
	if (path_join(file, sizeof(file), path, name) < 0 ||
	    file_tree_kind(repository->tree, file) != FILE_TREE_FILE)
		return;
	qsort(table.entries, table.count, sizeof(*table.entries), by_group_and_name);
	if (file_tree_read(repository->tree, file, MODEL_TABLE_MAX, &text, &len) < 0)
		note_problem(repository, "%s: cannot be read", file);
	else if (model_table_read(file, text, len, take_row, &table, &diag) < 0)
		note_problem(repository, "%s", diag.text);
}

/* An archive that no table describes has its own description. */
static int read_archive_metadata(const struct repository *repository,
				 const struct model_entry *entry, json_t **ret, struct diag *diag)
{
	CLEANUP(archive_cleanup) struct archive *archive = NULL;
	CLEANUP_FREE char *bytes = NULL;
	CLEANUP_FREE char *text = NULL;
	size_t len = 0, text_len = 0, index;
	int r = repository_read(repository, entry, FILE_ARCHIVE, &bytes, &len, diag);

	if (r == 0)
		r = archive_open(entry->name, bytes, len, &archive, diag);
	if (r < 0)
		return r;
	index = archive_find(archive, "metadata.json");
	if (index == SIZE_MAX)
		return diag_set(diag, -EINVAL, "%s.zip: has no metadata.json", entry->name);
	r = archive_read(archive, index, &text, &text_len, diag);
	if (r < 0)
		return r;
	*ret = model_json_parse("metadata.json", text, text_len, diag);
	return *ret ? 0 : -EINVAL;
}

/* Facts that a file of weights lacks come from its place in the repository. */
static int check_weights(const struct repository *repository, const struct model_entry *entry,
			 struct diag *diag)
{
	struct trained_model model = { 0 };
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = repository_read(repository, entry, FILE_WEIGHTS, &text, &len, diag);

	if (r == 0)
		r = trained_model_parse(&model, entry->name, text, len, diag);
	if (r == 0) {
		model.output = entry->output;
		r = trained_model_check(&model, diag);
	}
	trained_model_release(&model);
	return r;
}

static void judge_weights(struct repository *repository, struct model_entry *entry)
{
	char path[REPOSITORY_PATH_MAX] = "";
	struct diag diag = { "" };

	if (!(entry->files & FILE_WEIGHTS) || check_weights(repository, entry, &diag) == 0)
		return;
	(void)repository_path(repository, entry, FILE_WEIGHTS, path, sizeof(path));
	entry->weights_are_bad = true;
	entry->weights_fault = note_problem(repository, "%s: %s", path, diag.text);
}

static void complete(struct repository *repository, struct model_entry *entry)
{
	const struct pipeline *pipeline = &repository->pipelines[entry->pipeline];
	const struct node_type *type;
	struct diag diag = { "" };
	json_t *metadata = NULL;

	if (!entry->kind[0] && entry->files & FILE_ARCHIVE) {
		if (read_archive_metadata(repository, entry, &metadata, &diag) == 0)
			take_metadata(repository, entry, metadata);
		else
			note_problem(repository, "%s/%s/%s: %s", pipeline->name, entry->source,
				     entry->group, diag.text);
		json_decref(metadata);
	}
	judge_weights(repository, entry);
	type = node_types_find(&pipeline->types, entry->node_type);
	if (type)
		entry->machine = type->machine;
	if (!*entry->features)
		entry->features = features_of_group(repository, entry->group);
}

/* ---- pipelines ---- */

static int add_output(struct repository *repository, const char *path, const char *pipeline_path,
		      struct model_entry *place)
{
	CLEANUP(tree_names_release) struct tree_names names = { .count = 0 };
	size_t first = repository->entry_count;
	char below[REPOSITORY_PATH_MAX];
	int r = file_tree_list(repository->tree, path, &names);

	for (size_t i = 0; r == 0 && i < names.count; i++) {
		const char *group = names.list[i];

		if (strlen(group) >= sizeof(place->group) ||
		    path_join(below, sizeof(below), path, group) < 0 ||
		    !is_folder(repository, below))
			continue;
		(void)snprintf(place->group, sizeof(place->group), "%s", group);
		r = add_group(repository, below, place);
	}
	if (r == 0)
		read_table(repository, pipeline_path, place->source, place->output, first);
	for (size_t i = first; r == 0 && i < repository->entry_count; i++)
		complete(repository, &repository->entries[i]);
	return r;
}

static int add_source(struct repository *repository, const char *path, const char *source)
{
	struct model_entry place = {
		.pipeline = (uint32_t)(repository->pipeline_count - 1),
		.node_type = -1,
		.features = "",
		.mae_w = (double)NAN,
		.mape_percent = (double)NAN,
	};
	char below[REPOSITORY_PATH_MAX], output[REPOSITORY_PATH_MAX];
	int r = path_join(below, sizeof(below), path, source);

	if (r < 0 || strlen(source) >= sizeof(place.source))
		return 0;
	(void)snprintf(place.source, sizeof(place.source), "%s", source);
	for (int i = 0; r == 0 && i < MODEL_OUTPUT_COUNT; i++) {
		place.output = (enum model_output)i;
		if (path_join(output, sizeof(output), below, model_output_name(place.output)) ==
			    0 &&
		    is_folder(repository, output))
			r = add_output(repository, output, path, &place);
	}
	return r;
}

static void read_node_types(struct repository *repository, struct pipeline *pipeline,
			    const char *path)
{
	CLEANUP_FREE char *text = NULL;
	struct diag diag = { "" };
	char file[REPOSITORY_PATH_MAX];
	size_t len = 0;
	int r = path_join(file, sizeof(file), path, "node_type_index.json");

	if (r == 0)
		r = file_tree_read(repository->tree, file, INDEX_MAX, &text, &len);
	if (r == -ENOENT)
		return;
	if (r < 0)
		note_problem(repository, "%s: cannot be read: %s", file, strerrordesc_np(-r));
	else if (node_types_parse(file, text, len, &pipeline->types, &diag) < 0)
		note_problem(repository, "%s", diag.text);
}

/* @path is below the tree; the pipeline that is the tree itself has the tree's name. */
static int add_pipeline(struct repository *repository, const char *path,
			const struct tree_names *names)
{
	struct pipeline pipeline = { .first = repository->entry_count };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : *path ? path : file_tree_name(repository->tree);
	int r = 0;

	if (repository->pipeline_count == REPOSITORY_PIPELINES_MAX)
		return -E2BIG;
	if (strlen(name) >= sizeof(pipeline.name) || strlen(path) >= sizeof(pipeline.path)) {
		note_problem(repository, "%s: the name is too long", *path ? path : name);
		return 0;
	}
	(void)snprintf(pipeline.name, sizeof(pipeline.name), "%s", name);
	(void)snprintf(pipeline.path, sizeof(pipeline.path), "%s", path);
	if (ARRAY_RESERVE(repository->pipelines, repository->pipeline_size,
			  repository->pipeline_count + 1) < 0)
		return -ENOMEM;
	read_node_types(repository, &pipeline, path);
	repository->pipelines[repository->pipeline_count++] = pipeline;
	for (size_t i = 0; r == 0 && i < names->count; i++)
		r = add_source(repository, path, names->list[i]);
	repository->pipelines[repository->pipeline_count - 1].count =
		repository->entry_count - pipeline.first;
	return r;
}

/* Pipelines are in the folder itself, or one or two levels below: model-db has models/v0.7/NAME. */
static int add_below(struct repository *repository, const char *path, unsigned levels)
{
	CLEANUP(tree_names_release) struct tree_names names = { .count = 0 };
	int r = file_tree_list(repository->tree, path, &names);

	if (r < 0)
		return r;
	if (is_pipeline(repository, path, &names))
		return add_pipeline(repository, path, &names);
	for (size_t i = 0; levels && r == 0 && i < names.count; i++) {
		char inner[REPOSITORY_PATH_MAX];

		if (path_join(inner, sizeof(inner), path, names.list[i]) == 0 &&
		    is_folder(repository, inner))
			r = add_below(repository, inner, levels - 1);
	}
	return r;
}

int repository_open(const char *root, struct repository **ret, struct diag *diag)
{
	CLEANUP(repository_cleanup) struct repository *repository = calloc(1, sizeof(*repository));
	int r;

	if (!repository)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = file_tree_open(root, &repository->tree, diag);
	if (r < 0)
		return r;
	r = add_below(repository, "", 2);
	if (r == -E2BIG)
		return diag_set(diag, r, "%s: more than %d models or %d pipelines", root,
				REPOSITORY_MODELS_MAX, REPOSITORY_PIPELINES_MAX);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", root, strerrordesc_np(-r));
	*ret = TAKE_PTR(repository);
	return 0;
}

void repository_free(struct repository *repository)
{
	if (!repository)
		return;
	for (size_t i = 0; i < repository->pipeline_count; i++)
		node_types_release(&repository->pipelines[i].types);
	for (size_t i = 0; i < repository->feature_count; i++)
		free(repository->features[i]);
	for (size_t i = 0; i < REPOSITORY_PROBLEMS_MAX; i++)
		free(repository->problems[i]);
	free(repository->pipelines);
	free(repository->features);
	free(repository->entries);
	file_tree_free(repository->tree);
	free(repository);
}

void repository_cleanup(struct repository **repository)
{
	repository_free(*repository);
}

/* ---- files of models ---- */

int repository_path(const struct repository *repository, const struct model_entry *entry,
		    enum model_file file, char *buf, size_t size)
{
	const char *path = repository->pipelines[entry->pipeline].path;
	int len = snprintf(buf, size, "%s%s%s/%s/%s/%s.%s", path, *path ? "/" : "", entry->source,
			   model_output_name(entry->output), entry->group, entry->name,
			   file == FILE_ARCHIVE ? "zip" : "json");

	return len > 0 && (size_t)len < size ? 0 : -ENAMETOOLONG;
}

int repository_read(const struct repository *repository, const struct model_entry *entry,
		    enum model_file file, char **ret, size_t *ret_len, struct diag *diag)
{
	char path[REPOSITORY_PATH_MAX];
	int r = repository_path(repository, entry, file, path, sizeof(path));

	if (r == 0)
		r = file_tree_read(repository->tree, path, MODEL_FILE_MAX, ret, ret_len);
	return r < 0 ? diag_set(diag, r, "%s: %s", entry->name, strerrordesc_np(-r)) : 0;
}

uint64_t repository_file_identity(const struct repository *repository,
				  const struct model_entry *entry, enum model_file file)
{
	char path[REPOSITORY_PATH_MAX];

	return repository_path(repository, entry, file, path, sizeof(path)) == 0
		       ? file_tree_identity(repository->tree, path)
		       : 0;
}

/* Names are compared first: to print the paths of all models would take 50 ms. */
const struct model_entry *repository_find(const struct repository *repository, const char *path,
					  enum model_file *ret_file)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char own[REPOSITORY_PATH_MAX];
	size_t len = 0;
	unsigned file = file_of(name, &len);

	for (size_t i = 0; file && i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];

		if (entry->files & file && strncmp(entry->name, name, len) == 0 &&
		    !entry->name[len] &&
		    repository_path(repository, entry, (enum model_file)file, own, sizeof(own)) ==
			    0 &&
		    strcmp(own, path) == 0) {
			*ret_file = (enum model_file)file;
			return entry;
		}
	}
	return NULL;
}

uint64_t repository_fingerprint(const char *root)
{
	char *paths[] = { (char *)(uintptr_t)root, NULL }; /* fts(3) only reads it */
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	uint64_t sum = 0;
	FTSENT *at;

	if (!walk)
		return 0;
	for (size_t files = 0; files < FILES_MAX && (at = fts_read(walk)); files++) {
		const struct stat *status = at->fts_statp;
		uint64_t hash = HASH64_START;

		if (at->fts_info != FTS_F && at->fts_info != FTS_D)
			continue;
		hash = hash64_text(hash, at->fts_path);
		if (at->fts_info == FTS_F) {
			char facts[96];

			(void)snprintf(facts, sizeof(facts), "%lld %lld %ld",
				       (long long)status->st_size,
				       (long long)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
			hash = hash64_text(hash, facts);
		}
		sum += hash; /* files come in no order */
	}
	(void)fts_close(walk);
	return sum;
}
