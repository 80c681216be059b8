// SPDX-License-Identifier: Apache-2.0
#include "modelling/train.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "model/feature.h"
#include "model/recent_mean.h"
#include "modelling/model_command.h"
#include "modelling/rows/held_out.h"
#include "modelling/sample_file.h"
#include "modelling/training_options.h"
#include "modelling/training_report.h"
#include "options/layers.h"
#include "options/program.h"
#include "samples/power_column.h"
#include "samples/sample_input.h"
#include "training/model_training.h"
#include "training/recent_columns.h"

struct training_config {
	struct settings settings;
	struct training_values training;
};

static const struct option_section sections[] = { { training_rows_of_options, TRAINING_OPTION_COUNT,
						    offsetof(struct training_config, training) } };

static int check(const struct option_values *values, struct diag *diag)
{
	const struct training_values *training =
		&((const struct training_config *)(const void *)values)->training;
	int r = 0;

	if (training->validation == FOLDS_GROUPS && !*training->group_by)
		r = diag_add(diag, -EINVAL, "--validation=groups needs --group-by=COLUMN");
	if (*training->held_out && !*training->output)
		r = diag_add(diag, -EINVAL, "--held-out needs --output, the file of the model");
	return r;
}

const struct option_set training_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct training_config),
	.check = check,
};

/* A run of train or train-from-data. */
struct training_run {
	struct training_values *values;
	const char *const *paths; /* [path_count], as they were given */
	size_t path_count;
	struct sample_input files;
	struct row_screen screen;
	struct sample_table table;
	struct training_names names;
	struct training_request request;
	struct training_report *report;
	struct held_out held_out;
	size_t made; /* models that were written */
	struct diag diag;
};

static void show_progress(void *context, const char *trainer, const char *component)
{
	(void)context;
	(void)fprintf(stderr, "\r\033[Kkepler-model: %s of %s", trainer, component);
}

static void end_progress(const struct training_run *run)
{
	if (run->request.progress)
		(void)fputs("\r\033[K", stderr);
}

static int add_paths(struct training_run *run)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < run->path_count; i++) {
		CLEANUP_FREE char *path = NULL;

		if (run->paths[i][0] == '@')
			r = sample_input_add(&run->files, run->paths[i], &run->diag);
		else if (training_options_path(run->values, run->paths[i], &path) < 0)
			r = -ENOMEM;
		else
			r = sample_input_add(&run->files, path, &run->diag);
	}
	return r;
}

/* Many files are many machines, or many times: each is held out as a whole. */
static int group_by_file(struct training_run *run)
{
	struct training_values *values = run->values;
	char *name;

	if (values->validation != FOLDS_BLOCKED || *values->group_by || *values->split_column ||
	    run->files.count < values->folds)
		return 0;
	name = strdup(FILE_COLUMN);
	if (!name)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	free(values->group_by);
	values->group_by = name;
	return 0;
}

/* Checks a column that is trained on: it is refused, or the cells left out of it are reported. */
static int check_column(struct training_run *run, const char *name, bool is_power)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t index = row_screen_index(&run->screen, name);
	const struct screened_column *column;
	int r;

	if (index == SAMPLE_COLUMN_NONE)
		return 0;
	column = &run->screen.columns[index];
	r = screened_column_check(column, &run->diag);
	if (r == 0 && is_power && screened_column_is_constant(column))
		r = diag_set(&run->diag, -EINVAL,
			     "%s is %g W in all rows; without a change of power nothing can be "
			     "learned. --components leaves it out",
			     name, column->lowest);
	if (r < 0)
		return r;
	screened_column_describe(column, &text);
	if (text.len)
		(void)fprintf(stderr, "kepler-model: %s", text.data);
	return 0;
}

/* Returns true if @name is in @list, which commas separate; "" contains all names. */
static bool is_listed(const char *list, const char *name, size_t len)
{
	bool found = !*list;

	while (*list && !found) {
		size_t size = strcspn(list, ",");

		found = size == len && strncmp(list, name, len) == 0;
		list += size + (list[size] == ',');
	}
	return found;
}

/*
 * Returns true if the options may choose the column, before it is known which columns have numbers.
 */
static bool may_be_chosen(const struct training_values *values,
			  const struct screened_column *column)
{
	const struct feature_group *group = feature_group_find(values->group);
	const struct feature *known = feature_find(column->name);
	bool found = !*values->group && known && !known->by_name_only;
	char component[SAMPLE_NAME_MAX];

	if (power_column_component(column->name, component))
		return is_listed(values->components, component, strlen(component));
	if (*values->features)
		return is_listed(values->features, column->name, strlen(column->name));
	for (size_t i = 0; group && group->features[i] && !found; i++)
		found = strcmp(group->features[i], column->name) == 0;
	return found;
}

/* Refuses impossible columns, which would otherwise count as columns without numbers. */
static int check_units(struct training_run *run)
{
	const struct row_screen *screen = &run->screen;
	int r = 0;

	for (size_t i = 0; r == 0 && i < screen->count; i++) {
		const struct screened_column *column = &screen->columns[i];

		if (screened_column_is_impossible(column) && may_be_chosen(run->values, column))
			r = screened_column_check(column, &run->diag);
	}
	return r;
}

static int check_columns(struct training_run *run)
{
	const struct training_request *request = &run->request;
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->component_count; i++) {
		char name[SAMPLE_NAME_MAX];

		power_column(request->components[i], name);
		r = check_column(run, name, true);
	}
	for (size_t i = 0; r == 0 && i < request->feature_count; i++)
		r = check_column(run, request->features[i], false);
	return r;
}

/* Recent means among the features are computed unless the rows have them. */
static int add_recent_means(struct training_run *run)
{
	const struct training_request *request = &run->request;
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->feature_count; i++) {
		if (recent_mean_parse(request->features[i], NULL))
			r = recent_columns_add(&run->table, request->features[i], &run->diag);
	}
	return r;
}

static int open_run(struct training_run *run)
{
	int r;

	run->report = calloc(1, sizeof(*run->report));
	if (!run->report)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	r = add_paths(run);
	if (r == 0)
		r = group_by_file(run);
	run->files.skip_bad = run->values->skip_bad_rows;
	run->files.group_by = run->values->group_by;
	run->files.screen = &run->screen;
	run->screen.machine = (struct screen_machine){ run->values->cores, run->values->chips };
	if (r == 0)
		r = sample_input_take(&run->files, &run->table, &run->diag);
	if (r == 0 && run->table.rows == 0)
		r = diag_set(&run->diag, -EINVAL,
			     "%.200s: no row follows the line with the names of the columns",
			     run->files.paths[0]);
	if (r == 0)
		r = check_units(run);
	if (r == 0)
		r = training_options_make(run->values, &run->table, &run->names, &run->request,
					  &run->diag);
	if (r == 0 && *run->values->features)
		r = add_recent_means(run);
	run->request.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
	if (r == 0 && run->files.bad_rows)
		(void)fprintf(stderr, "kepler-model: %llu bad rows were skipped\n",
			      (unsigned long long)run->files.bad_rows);
	return r < 0 ? r : check_columns(run);
}

static void close_run(struct training_run *run)
{
	sample_input_release(&run->files);
	sample_table_release(&run->table);
	row_screen_release(&run->screen);
	held_out_release(&run->held_out);
	free(run->report);
}

/* Describes the training data in words. */
static void name_data(const struct training_run *run, char *ret, size_t size)
{
	const char *slash = strrchr(run->paths[0], '/');
	size_t files = run->files.count;

	(void)snprintf(ret, size, "%.60s", slash && slash[1] ? slash + 1 : run->paths[0]);
	if (files > 1)
		(void)snprintf(ret, size, "%zu files", files);
}

static int print_report(struct training_run *run)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (run->values->format == TRAINING_JSON)
		report_add_training_json(&run->request, run->report, &out);
	else
		report_add_training(&run->request, run->report, &out);
	return output_write("-", &out, &run->diag);
}

/* Trains the requested model and writes it to @path; "": it is not written. */
static int train_one(struct training_run *run, const char *group, const char *path)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	char data[100];
	int r;

	name_data(run, data, sizeof(data));
	r = training_options_describe(run->values, data, &model, &run->diag);
	if (r < 0)
		return r;
	run->request.only_errors = !*path;
	(void)snprintf(model.feature_group, sizeof(model.feature_group), "%s", group);
	r = model_training_run(&run->table, &run->request, &model, run->report, &run->diag);
	end_progress(run);
	if (r == 0 || r == -EINVAL) {
		struct diag why = run->diag;

		if (print_report(run) < 0)
			return -EIO;
		run->diag = why;
	}
	if (r < 0)
		return r;
	r = *path ? model_file_save(path, &model, &run->diag) : 0;
	run->made += r == 0;
	return r;
}

/* Writes held-out predictions of the trainer that makes the model, or would make it. */
static int write_held_out(struct training_run *run)
{
	CLEANUP_FREE char *path = NULL;

	if (!run->request.held_out)
		return 0;
	if (training_options_path(run->values, run->values->held_out, &path) < 0)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	return held_out_write(&run->held_out, &run->table, &run->request, run->report->chosen, path,
			      &run->diag);
}

static int train_from_data(struct training_run *run)
{
	const struct feature_group *group;
	CLEANUP_FREE char *path = NULL;
	int r = open_run(run);

	if (r < 0)
		return r;
	group = feature_group_of(run->request.features, run->request.feature_count);
	if (*run->values->held_out) {
		run->held_out.rows = run->table.rows;
		run->request.held_out = held_out_take;
		run->request.context = &run->held_out;
	}
	if (training_options_path(run->values, run->values->output, &path) < 0)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	r = train_one(run, group ? group->name : "", *run->values->output ? path : "");
	return r < 0 ? r : write_held_out(run);
}

/* The model of a group, if the rows have its features. */
static int train_group(struct training_run *run, const char *group, const char *folder)
{
	CLEANUP_FREE char *path = NULL;
	const char *output = run->values->output_type == MODEL_ABS_POWER ? "AbsPower" : "DynPower";
	int r = training_options_use_group(group, &run->table, &run->names, &run->request,
					   &run->diag);

	if (r == -ENOENT)
		return 0;
	if (r == 0 &&
	    asprintf(&path, "%s/%s_%s_%s.json", folder, run->values->source, output, group) < 0)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	if (r == 0 && run->values->format == TRAINING_TABLE)
		(void)printf("%s%s\n", run->made ? "\n" : "", group);
	return r < 0 || !path ? r : train_one(run, group, path);
}

static int train(struct training_run *run)
{
	CLEANUP_FREE char *folder = NULL;
	int r = open_run(run), worst = 0;

	if (r < 0)
		return r;
	if (training_options_path(run->values, run->values->output, &folder) < 0)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return diag_set(&run->diag, -errno, "%.200s: cannot be created: %s", folder,
				strerrordesc_np(errno));
	for (const struct feature_group *group = feature_groups; group->name; group++) {
		r = train_group(run, group->name, folder);
		if (r == -ENOMEM || r == -EIO)
			return r;
		if (r < 0) {
			(void)fprintf(stderr, "kepler-model train: %s: %s\n", group->name,
				      run->diag.text);
			worst = r;
		}
	}
	if (worst < 0)
		return diag_set(&run->diag, worst, "a model could not be made");
	return run->made
		       ? 0
		       : diag_set(&run->diag, -ENOENT,
				  "%.200s: the rows have the features of no group", run->paths[0]);
}

static int run_on(struct training_config *config, const struct operands *operands,
		  int (*command)(struct training_run *run), struct diag *diag)
{
	struct training_run run = { .values = &config->training };
	const char *input = config->training.input;
	int r = PROGRAM_WRONG_WORDS;

	run.paths = operands->count ? operands->words : &input;
	run.path_count = operands->count ? operands->count : 1;
	if (*run.paths[0])
		r = command(&run);
	if (r < 0 && run.diag.text[0])
		(void)diag_set(diag, r, "%s", run.diag.text);
	close_run(&run);
	return r;
}

static int run_train_from_data(void *config, const struct operands *operands, struct diag *diag)
{
	return run_on(config, operands, train_from_data, diag);
}

static int run_train(void *userdata, const struct operands *operands, struct diag *diag)
{
	struct training_config *config = userdata;

	if (!operands->count && !*config->training.input)
		return PROGRAM_WRONG_WORDS;
	if (!*config->training.output) {
		(void)fputs(
			"kepler-model train: --output: must be given: the folder of the models\n",
			stderr);
		return PROGRAM_USAGE;
	}
	return run_on(config, operands, train, diag);
}

int train_from_data_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "train-from-data",
						      .set = &training_options,
						      .shorts = training_short_flags,
						      .max = SIZE_MAX,
						      .run = run_train_from_data };

	return model_command_run(&command, argc, argv, environ_);
}

int train_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "train",
						      .set = &training_options,
						      .shorts = training_short_flags,
						      .max = SIZE_MAX,
						      .run = run_train };

	return model_command_run(&command, argc, argv, environ_);
}
