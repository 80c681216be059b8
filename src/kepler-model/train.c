// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/train.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "kepler-model/sample_file.h"
#include "kepler-model/settings.h"
#include "kepler-model/training_options.h"
#include "kepler-model/training_report.h"
#include "model/feature.h"
#include "options/layers.h"
#include "options/program.h"

struct training_config {
	struct settings settings;
	struct training_values training;
};

static const struct option_section sections[] = { { training_rows_of_options, TRAINING_OPTION_COUNT,
						    offsetof(struct training_config, training) } };

const struct option_set training_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct training_config),
};

/* One run of either command. */
struct training_run {
	struct training_values *values;
	const char *input; /* the path as it was given */
	struct sample_table table;
	struct training_names names;
	struct training_request request;
	struct training_report *report;
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

static int open_run(struct training_run *run)
{
	CLEANUP_FREE char *path = NULL;
	int r = training_options_path(run->values, run->input, &path);

	run->report = calloc(1, sizeof(*run->report));
	if (r < 0 || !run->report)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	r = sample_file_read(path, &run->table, &run->diag);
	if (r == 0)
		r = training_options_make(run->values, &run->table, &run->names, &run->request,
					  &run->diag);
	if (r == 0 && isatty(STDERR_FILENO))
		run->request.progress = show_progress;
	return r;
}

static void close_run(struct training_run *run)
{
	sample_table_release(&run->table);
	free(run->report);
}

static int print_report(struct training_run *run)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (run->values->format == TRAINING_JSON)
		report_add_training_json(&run->request, run->report, &out);
	else
		report_add_training(&run->request, run->report, &out);
	return text_print(&out, &run->diag);
}

/* Trains what the request says and writes it to @path, "" for nowhere. */
static int train_one(struct training_run *run, const char *group, const char *path)
{
	CLEANUP(trained_model_release) struct trained_model model = { .node_type = -1 };
	int r = training_options_describe(run->values, run->input, &model, &run->diag);

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

static int train_from_data(struct training_run *run)
{
	const struct feature_group *group;
	CLEANUP_FREE char *path = NULL;
	int r = open_run(run);

	if (r < 0)
		return r;
	group = feature_group_of(run->request.features, run->request.feature_count);
	if (training_options_path(run->values, run->values->output, &path) < 0)
		return diag_set(&run->diag, -ENOMEM, "out of memory");
	return train_one(run, group ? group->name : "", *run->values->output ? path : "");
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
		return diag_set(&run->diag, -errno, "%.200s: cannot be made: %s", folder,
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
	return run->made ? 0
			 : diag_set(&run->diag, -ENOENT,
				    "%.200s: the rows have the features of no group", run->input);
}

static int run_command(const char *name, int (*command)(struct training_run *run),
		       bool needs_output, int argc, char *const *argv, char *const *environ_)
{
	struct training_config config = { .training = { .format = 0 } };
	struct training_run run = { .values = &config.training };
	struct operands operands;
	int status = PROGRAM_USAGE;

	if (settings_read(&training_options, training_short_flags, argc, argv, environ_,
			  &config.settings, &operands, &run.diag) < 0) {
		(void)fprintf(stderr, "kepler-model %s: %s\n", name, run.diag.text);
		return PROGRAM_USAGE;
	}
	run.input = operands.count ? operands.words[0] : config.training.input;
	if (operands.count > 1 || !*run.input || (needs_output && !*config.training.output)) {
		(void)fprintf(stderr,
			      "usage: kepler-model %s CSV --output=%s [OPTION]...; --help lists "
			      "all options\n",
			      name, needs_output ? "FOLDER" : "FILE");
	} else {
		status = command(&run) < 0;
		if (status)
			(void)fprintf(stderr, "kepler-model %s: %s\n", name, run.diag.text);
	}
	close_run(&run);
	operands_release(&operands);
	options_release(&training_options, &config.settings.options);
	return status;
}

int train_from_data_main(int argc, char *const *argv, char *const *environ_)
{
	return run_command("train-from-data", train_from_data, false, argc, argv, environ_);
}

int train_main(int argc, char *const *argv, char *const *environ_)
{
	return run_command("train", train, true, argc, argv, environ_);
}
