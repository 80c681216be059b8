// SPDX-License-Identifier: Apache-2.0
#include "trainers/train_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/macro.h"
#include "model/feature.h"
#include "modelling/model_command.h"
#include "modelling/rows/background.h"
#include "modelling/rows/background_model.h"
#include "options/version.h"
#include "repository/model_entry.h"
#include "repository/publication.h"
#include "samples/isolation.h"
#include "samples/power_column.h"
#include "trainers/folder.h"
#include "trainers/train_body.h"

#define PATH_SIZE  1024
#define READ_BLOCK 65536
#define FOLDS      10

struct train_request_config {
	struct settings settings;
	char *output, *work_dir, *models;
};

#define OWN(member) .offset = offsetof(struct train_request_config, member)

static const struct option rows[] = {
	TEXT_FLAG("output", OWN(output), "-", "FILE",
		  "Where the zipped pipeline goes. -: standard output."),
	TEXT_FLAG("work-dir", OWN(work_dir), "", "FOLDER",
		  "An existing folder in which the pipeline is made, and left. Empty: a new one "
		  "below $TMPDIR or /tmp, which is removed."),
	TEXT_FLAG("models", OWN(models), "", "DIR",
		  "Models of the whole power for the TrainIsolator: a repository, or a pipeline."),
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set train_request_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct train_request_config),
};

/* A request in progress. */
struct request_run {
	struct train_body body;
	const char *folder, *models;
	struct strbuf left_out; /* lines */
	size_t made;
	struct diag *diag;
};

/* ---- rows ---- */

static int feed_series(void *userdata, const struct series_sink *sink, struct diag *diag)
{
	const struct train_series *series = userdata;

	return series_read_text(series->text, series->len, sink, NULL, diag);
}

static struct extract_options options_of(const struct train_body *body)
{
	return (struct extract_options){
		.sources = { body->source },
		.source_count = 1,
		.level = body->uses_vm_metrics ? METRIC_PROCESS : METRIC_CONTAINER,
		.node = body->node,
	};
}

static int extract(struct request_run *run, const struct extract_options *options,
		   const char *member, struct train_series *series, struct extraction *ret)
{
	struct diag why = { "" };
	int r = extraction_run(options, feed_series, series, ret, &why);

	return r < 0 ? diag_set(run->diag, r, "%s: %.400s", member, why.text) : 0;
}

/* Subtracts a model's estimate of the background from the power of rows. */
static int isolate_by_model(struct request_run *run, struct sample_table *table)
{
	const struct model_input_filter filter = { .output = MODEL_ABS_POWER,
						   .pipeline = run->body.abs_pipeline,
						   .source = run->body.source };
	struct background_model found;
	struct diag why = { "" };
	int r;

	if (!*run->models)
		return diag_set(run->diag, -EINVAL,
				"trainer.isolator: TrainIsolator needs models of the whole power: "
				"this trainer was started without any (train.models, --models)");
	r = background_model_isolate(run->models, &filter, table, &found, &why);
	return r < 0 ? diag_set(run->diag, r, "trainer.isolator: %.400s", why.text) : 0;
}

/* Takes idle power, or the background's, off the rows' power. */
static int isolate(struct request_run *run, struct extraction *rows_,
		   const struct background *background)
{
	struct sample_table *table = &rows_->table;
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];
	const char *load = NULL;
	size_t count;

	if (run->body.isolator == TRAIN_ISOLATE_NONE)
		return 0;
	if (run->body.isolator == TRAIN_ISOLATE_MODEL)
		return isolate_by_model(run, table);
	if (run->body.isolator == TRAIN_ISOLATE_IDLE)
		load = isolation_load(table);
	if (run->body.isolator == TRAIN_ISOLATE_IDLE && !load)
		return diag_set(run->diag, -EINVAL,
				"trainer.isolator: IdleIsolator needs CPU time, cycles or "
				"instructions in the series");
	count = isolation_find(table, load, powers);
	for (size_t i = 0; i < count; i++) {
		double watts = background_watts(background, table->names[powers[i].column]);

		isolation_subtract(table, powers[i].column, watts >= 0 ? watts : powers[i].idle_w);
	}
	return 0;
}

static size_t list_hints(const struct train_hints *hints, const char *ret[TRAIN_HINTS_MAX])
{
	for (size_t i = 0; i < hints->count; i++)
		ret[i] = hints->text[i];
	return hints->count;
}

static int read_idle(struct request_run *run, const struct extract_options *options,
		     struct background *ret)
{
	struct extract_options by_owner = *options;

	by_owner.by_owner = true;
	return extract(run, &by_owner, "trainer.idle_prom_response", &run->body.idle, &ret->idle);
}

static int read_dynamic(struct request_run *run, struct extraction *ret)
{
	const char *hints[TRAIN_HINTS_MAX], *target_hints[TRAIN_HINTS_MAX];
	CLEANUP(background_release)
	struct background background = {
		.hints = hints,
		.hint_count = list_hints(&run->body.bg_hints, hints),
		.target_hints = target_hints,
		.target_hint_count = list_hints(&run->body.target_hints, target_hints),
	};
	struct extract_options options = options_of(&run->body);
	bool has_background = run->body.isolator == TRAIN_ISOLATE_PROFILE ||
			      run->body.isolator == TRAIN_ISOLATE_MODEL;
	int r = 0;

	if (has_background && run->body.idle.text)
		r = read_idle(run, &options, &background);
	if (has_background) {
		options.is_background = background_has;
		options.userdata = &background;
	}
	if (r == 0)
		r = extract(run, &options, "prom_response", &run->body.series, ret);
	return r < 0 ? r : isolate(run, ret, &background);
}

/* ---- models ---- */

/* Names of the components with power, which the caller has room for. */
static size_t find_components(const struct sample_table *table,
			      char names[MODEL_COMPONENTS_MAX][SAMPLE_NAME_MAX],
			      const char *ret[MODEL_COMPONENTS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count && count < MODEL_COMPONENTS_MAX; i++) {
		if (!power_column_is_used(table, i, names[count]))
			continue;
		ret[count] = names[count];
		count++;
	}
	return count;
}

static bool has_features(const struct sample_table *table, const struct feature_group *group)
{
	for (size_t i = 0; group->features[i]; i++) {
		if (sample_table_find(table, group->features[i]) == SAMPLE_COLUMN_NONE)
			return false;
	}
	return true;
}

static void describe(const struct request_run *run, enum model_output output, const char *group,
		     size_t row_count, struct trained_model *ret)
{
	time_t now = time(NULL);
	struct tm date;

	ret->output = output;
	ret->machine = run->body.machine;
	(void)snprintf(ret->source, sizeof(ret->source), "%s", run->body.source);
	(void)snprintf(ret->feature_group, sizeof(ret->feature_group), "%s", group);
	(void)snprintf(ret->origin.data, sizeof(ret->origin.data), "a request, %zu rows",
		       row_count);
	(void)snprintf(ret->origin.tool, sizeof(ret->origin.tool), "kepler-model %s",
		       KEPLER_VERSION);
	if (gmtime_r(&now, &date))
		(void)strftime(ret->origin.trained_at, sizeof(ret->origin.trained_at),
			       "%Y-%m-%dT%H:%M:%SZ", &date);
}

/* Trains one model; its fault becomes a line. Only lack of memory and I/O errors fail. */
static int train_one(struct request_run *run, const struct sample_table *table,
		     struct training_request *request, enum model_output output, const char *group,
		     struct training_report *report)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	const struct publication publication = { run->folder, run->body.name, "" };
	char path[PUBLICATION_NAME_MAX * 4];
	struct diag why = { "" };
	int r;

	describe(run, output, group, table->rows, &model);
	r = model_training_run(table, request, &model, report, &why);
	if (r == 0)
		r = publication_add(&publication, &model, path, &why);
	if (r == -ENOMEM || r == -ENOSPC || r == -EIO)
		return diag_set(run->diag, r, "%.400s", why.text);
	if (r < 0)
		strbuf_addf(&run->left_out, "%s/%s/%s: %s\n", model_output_name(output), group,
			    request->trainers[0]->name, why.text);
	run->made += r == 0;
	return 0;
}

static int train_output(struct request_run *run, const struct sample_table *table,
			enum model_output output)
{
	char names[MODEL_COMPONENTS_MAX][SAMPLE_NAME_MAX];
	const char *components[MODEL_COMPONENTS_MAX];
	CLEANUP_FREE struct training_report *report = calloc(1, sizeof(*report));
	const struct train_trainers *chosen = &run->body.trainers[output];
	struct training_request request = {
		.trainer_count = 1,
		.components = components,
		.component_count = find_components(table, names, components),
		.plan = { .kind = FOLDS_BLOCKED, .folds = FOLDS },
	};
	int r = report ? 0 : diag_set(run->diag, -ENOMEM, "out of memory");

	for (const struct feature_group *group = feature_groups; r == 0 && group->name; group++) {
		if (!has_features(table, group))
			continue;
		request.features = group->features;
		for (request.feature_count = 0; group->features[request.feature_count];)
			request.feature_count++;
		for (size_t i = 0; r == 0 && i < chosen->count; i++) {
			request.trainers[0] = chosen->list[i];
			r = train_one(run, table, &request, output, group->name, report);
		}
	}
	return r;
}

static int train(struct request_run *run)
{
	const struct extract_options options = options_of(&run->body);
	CLEANUP(extraction_release) struct extraction absolute = { .step_us = 0 };
	CLEANUP(extraction_release) struct extraction dynamic = { .step_us = 0 };
	int r = 0;

	if (run->body.trainers[MODEL_ABS_POWER].count) {
		r = extract(run, &options, "prom_response", &run->body.series, &absolute);
		if (r == 0)
			r = train_output(run, &absolute.table, MODEL_ABS_POWER);
	}
	if (r == 0 && run->body.trainers[MODEL_DYN_POWER].count) {
		r = read_dynamic(run, &dynamic);
		if (r == 0)
			r = train_output(run, &dynamic.table, MODEL_DYN_POWER);
	}
	if (r == 0 && !run->made)
		return diag_set(run->diag, -EINVAL, "no model could be made: %.400s",
				run->left_out.len ? run->left_out.data
						  : "the series have the features of no group");
	return r;
}

/* ---- the answer ---- */

static int write_left_out(const struct request_run *run)
{
	char path[PATH_SIZE];
	int r = strbuf_error(&run->left_out);

	if (r < 0 || !run->left_out.len)
		return r;
	(void)snprintf(path, sizeof(path), "%s/%s/left_out.txt", run->folder, run->body.name);
	return write_file_atomic(path, run->left_out.data, run->left_out.len, 0644);
}

static int write_answer(const char *path, const struct strbuf *zip)
{
	if (strcmp(path, "-") != 0)
		return write_output_file(path, zip->data, zip->len, 0644);
	return fwrite(zip->data, 1, zip->len, stdout) == zip->len && fflush(stdout) == 0 ? 0 : -EIO;
}

static int answer(const struct request_run *run, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf zip = STRBUF_INIT;
	int r = write_left_out(run);

	if (r == 0)
		r = folder_zip(run->folder, &zip, run->diag);
	if (r == 0)
		r = write_answer(path, &zip);
	return r < 0 ? diag_set(run->diag, r, "the pipeline cannot be written: %s",
				strerrordesc_np(-r))
		     : 0;
}

static int read_all(const char *path, char **ret, size_t *ret_len, struct diag *diag)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char block[READ_BLOCK];
	size_t len;

	if (!file)
		return diag_set(diag, -errno, "%s: cannot be read: %s", path,
				strerrordesc_np(errno));
	while (text.len <= TRAIN_BODY_MAX && (len = fread(block, 1, sizeof(block), file)) > 0)
		strbuf_add(&text, block, len);
	if (file != stdin)
		(void)fclose(file); /* it was only read */
	if (strbuf_error(&text) < 0 || text.len > TRAIN_BODY_MAX)
		return diag_set(diag, -E2BIG, "%s: more than %u MiB, or no memory", path,
				TRAIN_BODY_MAX >> 20);
	*ret_len = text.len;
	*ret = text.data ? TAKE_PTR(text.data) : strdup("");
	return *ret ? 0 : diag_set(diag, -ENOMEM, "out of memory");
}

static int run_request(const struct train_request_config *config, const char *path,
		       const char *folder, struct diag *diag)
{
	struct request_run run = {
		.folder = folder, .models = config->models, .left_out = STRBUF_INIT, .diag = diag
	};
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = read_all(path, &text, &len, diag);

	if (r == 0)
		r = train_body_read(text, len, &run.body, diag);
	if (r == 0)
		r = train(&run);
	if (r == 0)
		r = answer(&run, config->output);
	if (run.left_out.len)
		(void)fputs(run.left_out.data, stderr);
	strbuf_release(&run.left_out);
	return r;
}

static int run_command(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct train_request_config *config = userdata;
	const char *path = operands->words[0];
	char folder[FOLDER_PATH_MAX];
	int r;

	if (*config->work_dir)
		return run_request(config, path, config->work_dir, diag);
	r = folder_make(folder);
	if (r < 0)
		return diag_set(diag, r, "no folder can be made below $TMPDIR or /tmp: %s",
				strerrordesc_np(-r));
	r = run_request(config, path, folder, diag);
	folder_remove(folder);
	return r;
}

int train_request_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.set = &train_request_options, .min = 1, .max = 1, .run = run_command
	};

	return model_command_run(&command, argc, argv, environ_);
}
