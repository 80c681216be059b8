// SPDX-License-Identifier: Apache-2.0
#include "repository/published_copy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "repository/model_json.h"
#include "repository/model_table.h"
#include "repository/publication.h"
#include "repository/table_text.h"

#define JSON_MAX (16U << 20)

struct copy {
	const struct repository *repository;
	const char *folder;
	struct diag *diag;
};

static bool is_good(const struct model_entry *entry)
{
	return !entry->weights_are_bad &&
	       publication_error_is_good(entry->mae_w, entry->mape_percent);
}

static int write_file(const struct copy *copy, const char *file, const void *data, size_t len)
{
	return publication_write_file(copy->folder, file, data, len, copy->diag);
}

static int copy_files(const struct copy *copy, const struct model_entry *entry)
{
	static const enum model_file files[] = { FILE_WEIGHTS, FILE_ARCHIVE };
	int r = 0;

	for (size_t f = 0; r == 0 && f < ARRAY_SIZE(files); f++) {
		CLEANUP_FREE char *bytes = NULL;
		char path[REPOSITORY_PATH_MAX];
		size_t len = 0;

		if (!(entry->files & files[f]))
			continue;
		r = repository_read(copy->repository, entry, files[f], &bytes, &len, copy->diag);
		if (r == 0)
			r = repository_path(copy->repository, entry, files[f], path, sizeof(path));
		if (r == 0)
			r = write_file(copy, path, bytes, len);
	}
	return r;
}

/* "PIPELINE/NAME" below the root; the pipeline may be the root. */
static void path_of(const struct pipeline *pipeline, const char *name, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%s%s%s", pipeline->path, *pipeline->path ? "/" : "", name);
}

/* The text of a file of the pipeline: 0, -ENOENT, or another -errno with a diagnosis. */
static int read_text(const struct copy *copy, const char *file, char **ret, size_t *ret_len)
{
	int r = file_tree_read(copy->repository->tree, file, JSON_MAX, ret, ret_len);

	return r == 0 || r == -ENOENT ? r
				      : diag_set(copy->diag, r, "%s: cannot be read: %s", file,
						 strerrordesc_np(-r));
}

static int copy_json(const struct copy *copy, const struct pipeline *pipeline, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	CLEANUP(model_json_release) json_t *json = NULL;
	CLEANUP_FREE char *text = NULL;
	char file[REPOSITORY_PATH_MAX];
	size_t len = 0;
	int r;

	path_of(pipeline, name, file, sizeof(file));
	r = read_text(copy, file, &text, &len);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	json = model_json_parse(file, text, len, copy->diag);
	if (!json)
		return -EINVAL;
	return model_json_dump(json, &out) ? write_file(copy, file, out.data, out.len) : -ENOMEM;
}

struct rows {
	const struct repository *repository;
	const struct pipeline *pipeline;
	const struct model_entry *like; /* of its source and output */
	json_t *kept;
};

static int keep_row(void *userdata, const json_t *row)
{
	struct rows *rows = userdata;

	for (size_t i = 0; i < rows->pipeline->count; i++) {
		const struct model_entry *entry =
			&rows->repository->entries[rows->pipeline->first + i];

		if (entry->output == rows->like->output &&
		    strcmp(entry->source, rows->like->source) == 0 && is_good(entry) &&
		    strcmp(entry->name, model_json_text(row, "model_name")) == 0 &&
		    strcmp(entry->group, model_json_text(row, "feature_group")) == 0)
			return json_array_append_new(rows->kept,
						     json_copy((json_t *)(uintptr_t)row)) == 0
				       ? 0
				       : -ENOMEM;
	}
	return 0;
}

static int copy_table(const struct copy *copy, const struct pipeline *pipeline,
		      const struct model_entry *like)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	CLEANUP(model_json_release) json_t *kept = json_array();
	CLEANUP_FREE char *text = NULL;
	struct rows rows = { copy->repository, pipeline, like, kept };
	char name[96], file[REPOSITORY_PATH_MAX];
	size_t len = 0;
	int r;

	(void)snprintf(name, sizeof(name), "%s_%s_model_metadata.csv", like->source,
		       model_output_name(like->output));
	path_of(pipeline, name, file, sizeof(file));
	r = read_text(copy, file, &text, &len);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = model_table_read(file, text, len, keep_row, &rows, copy->diag);
	if (r == 0)
		r = table_text_write(kept, &out);
	return r < 0 ? r : write_file(copy, file, out.data, out.len);
}

static bool is_first_of_its_table(const struct pipeline *pipeline,
				  const struct model_entry *entries, size_t index)
{
	for (size_t i = pipeline->first; i < index; i++)
		if (is_good(&entries[i]) && entries[i].output == entries[index].output &&
		    strcmp(entries[i].source, entries[index].source) == 0)
			return false;
	return true;
}

static int copy_pipeline(const struct copy *copy, const struct pipeline *pipeline,
			 struct published_copy *counts)
{
	const struct model_entry *entries = copy->repository->entries;
	size_t before = counts->models;
	int r = 0;

	for (size_t i = pipeline->first; r == 0 && i < pipeline->first + pipeline->count; i++) {
		if (!is_good(&entries[i])) {
			counts->left_out++;
			continue;
		}
		counts->models++;
		r = copy_files(copy, &entries[i]);
		if (r == 0 && is_first_of_its_table(pipeline, entries, i))
			r = copy_table(copy, pipeline, &entries[i]);
	}
	if (r == 0 && counts->models > before)
		r = copy_json(copy, pipeline, "node_type_index.json");
	if (r == 0 && counts->models > before)
		r = copy_json(copy, pipeline, "metadata.json");
	return r;
}

int published_copy_write(const struct repository *repository, const char *folder,
			 struct published_copy *ret, struct diag *diag)
{
	const struct copy copy = { repository, folder, diag };
	struct published_copy counts = { 0 };
	int r = 0;

	for (size_t i = 0; r == 0 && i < repository->pipeline_count; i++)
		r = copy_pipeline(&copy, &repository->pipelines[i], &counts);
	if (r == 0)
		*ret = counts;
	return r == -ENOMEM ? diag_set(diag, r, "out of memory") : r;
}
