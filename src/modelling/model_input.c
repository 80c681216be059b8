// SPDX-License-Identifier: Apache-2.0
#include "modelling/model_input.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "modelling/sample_file.h"
#include "repository/model_load.h"
#include "repository/repository.h"

#define OWN(member) .offset = offsetof(struct model_input_filter, member)

static const struct option_choice outputs[] = { { "AbsPower", MODEL_ABS_POWER },
						{ "DynPower", MODEL_DYN_POWER },
						{ 0 } };

const struct option model_input_rows_of_options[MODEL_INPUT_OPTION_COUNT] = {
	{ "output-type", NULL, OPTION_ENUM, OWN(output), .choices = outputs,
	  .default_text = "AbsPower", .metavar = "TYPE", .only_flag = true,
	  .help = "If MODEL is a pipeline: use its models of total power (AbsPower) or of dynamic "
		  "power (DynPower)." },
	TEXT_FLAG("feature-group", OWN(group), "", "NAME",
		  "If MODEL is a pipeline: use its models of this feature group. Empty: all "
		  "groups."),
	TEXT_FLAG("model-name", OWN(name), "", "NAME",
		  "If MODEL is a pipeline: use its models of this name, TRAINER_NODETYPE. Empty: "
		  "any name."),
};

/* A folder, or a file that begins as a zip archive does. */
static bool is_pipeline(const char *path)
{
	char begin[3] = "";
	struct stat st;
	FILE *file;
	bool is_zip;

	if (stat(path, &st) < 0 || S_ISDIR(st.st_mode))
		return S_ISDIR(st.st_mode);
	file = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	is_zip = fread(begin, 1, 2, file) == 2 && strcmp(begin, "PK") == 0;
	(void)fclose(file);
	return is_zip;
}

static int take_file(const char *path, model_input_fn *fn, void *userdata, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	int r = model_file_load(path, &model, diag);

	return r < 0 ? r : fn(userdata, path, &model, diag);
}

/* Returns true if @wanted is not given or is @text. */
static bool is_any_or(const char *wanted, const char *text)
{
	return !wanted || !*wanted || strcmp(wanted, text) == 0;
}

static bool counts(const struct model_input_filter *filter, const struct repository *repository,
		   const struct model_entry *entry)
{
	return !filter ||
	       (entry->output == (enum model_output)filter->output &&
		is_any_or(filter->group, entry->group) && is_any_or(filter->name, entry->name) &&
		is_any_or(filter->source, entry->source) &&
		is_any_or(filter->pipeline, repository->pipelines[entry->pipeline].name));
}

/* Returns 1 if the model was taken, 0 if it was left out, or the result of @fn. */
static int take_entry(const struct repository *repository, const struct model_entry *entry,
		      model_input_fn *fn, void *userdata, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	char name[MODEL_INPUT_NAME_MAX];
	struct diag why = { "" };
	int r = model_load(repository, entry, &model, &why);

	if (r == -ENOMEM)
		return diag_set(diag, r, "out of memory");
	(void)snprintf(name, sizeof(name), "%s/%s", entry->group, entry->name);
	if (r < 0) {
		(void)fprintf(stderr, "kepler-model: %s of %s: left out: %s\n", name,
			      model_output_name(entry->output), why.text);
		return 0;
	}
	r = fn(userdata, name, &model, diag);
	return r == 0 ? 1 : r;
}

int model_input_each(const char *path, const struct model_input_filter *filter, model_input_fn *fn,
		     void *userdata, struct diag *diag)
{
	CLEANUP(repository_cleanup) struct repository *repository = NULL;
	size_t taken = 0;
	int r;

	if (!is_pipeline(path))
		return take_file(path, fn, userdata, diag);
	r = repository_open(path, &repository, diag);
	for (size_t i = 0; r >= 0 && i < repository->entry_count; i++) {
		if (!counts(filter, repository, &repository->entries[i]))
			continue;
		r = take_entry(repository, &repository->entries[i], fn, userdata, diag);
		taken += r == 1;
	}
	if (r >= 0 && !taken)
		return diag_set(
			diag, -ENOENT,
			"%s: has no usable model with the requested output, group and name, "
			"as SOURCE/OUTPUT/GROUP/TRAINER_NODETYPE",
			path);
	return r < 0 ? r : 0;
}

/* ---- the best one ---- */

struct best {
	struct trained_model *model;
	double mae_w;
	bool is_found;
};

double model_input_error(const struct trained_model *model)
{
	double most = 0;

	for (size_t i = 0; i < model->component_count; i++) {
		double mae_w = model->components[i].error.mae_w;

		most = isnan(mae_w) ? (double)INFINITY : fmax(most, mae_w);
	}
	return most;
}

static int keep_better(void *userdata, const char *name, struct trained_model *model,
		       struct diag *diag)
{
	struct best *best = userdata;
	double mae_w = model_input_error(model);

	(void)name;
	(void)diag;
	if (best->is_found && !(mae_w < best->mae_w))
		return 0;
	trained_model_release(best->model);
	*best->model = *model;
	*model = (struct trained_model){ .node_type = -1 };
	best->mae_w = mae_w;
	best->is_found = true;
	return 0;
}

int model_input_best(const char *path, const struct model_input_filter *filter,
		     struct trained_model *ret, struct diag *diag)
{
	struct best best = { .model = ret };

	return model_input_each(path, filter, keep_better, &best, diag);
}
