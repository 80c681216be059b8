// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "kepler-model/model_input.h"
#include "kepler-model/sample_file.h"
#include "kepler-model/settings.h"
#include "kepler-model/training_report.h"
#include "options/layers.h"
#include "options/program.h"

#define BOOTSTRAP_SEED 1

struct validate_config {
	struct settings settings;
	struct model_input_filter models;
	int format;
	uint32_t limit_percent;
};

enum { VALIDATE_TABLE, VALIDATE_JSON };

static const struct option_choice formats[] = { { "table", VALIDATE_TABLE },
						{ "json", VALIDATE_JSON },
						{ 0 } };

static const struct option rows[] = {
	{ "format", NULL, OPTION_ENUM, .offset = offsetof(struct validate_config, format),
	  .choices = formats, .default_text = "table", .metavar = "FORMAT", .only_flag = true,
	  .help = "Of what is printed." },
	{ "limit", NULL, OPTION_U32, .offset = offsetof(struct validate_config, limit_percent),
	  .max = 1000, .default_text = "0", .metavar = "PERCENT", .only_flag = true,
	  .help = "Exit with 1 if a component's errors, all together, exceed this part of its "
		  "power; 0: no limit." },
};
static const struct option_section sections[] = {
	{ rows, ARRAY_SIZE(rows), 0 },
	{ model_input_rows_of_options, MODEL_INPUT_OPTION_COUNT,
	  offsetof(struct validate_config, models) },
};

const struct option_set validate_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct validate_config),
};

static const struct short_flag shorts[] = { { "-ot", "output-type" },
					    { "-fg", "feature-group" },
					    { NULL, NULL } };

struct validation {
	const struct validate_config *config;
	struct sample_table table;
	struct strbuf out;
	const char *operand; /* the models that are judged */
	size_t lines;
	bool is_beyond; /* the limit */
	struct diag diag;
};

static int add_component(struct validation *validation, const struct trained_model *model,
			 const char *shown, size_t component)
{
	struct training_result result = { .coverage = 0 };
	const char *name = model->components[component].name;
	uint32_t limit = validation->config->limit_percent;
	int r = model_training_validate(model, component, &validation->table, BOOTSTRAP_SEED,
					&result, &result.failure);

	if (r == -ENOMEM)
		return diag_set(&validation->diag, r, "out of memory");
	if (r < 0 || (limit && !(result.score.weighted_percent <= limit)))
		validation->is_beyond = true;
	if (validation->config->format == VALIDATE_TABLE) {
		report_add_line(name, shown, &result, &validation->out);
	} else {
		if (validation->lines)
			strbuf_add_char(&validation->out, ',');
		report_add_object(name, shown, &result, &validation->out);
	}
	validation->lines++;
	return 0;
}

/* A file is shown by its name, a model of a pipeline by its place there. */
static int add_model(void *userdata, const char *name, struct trained_model *model,
		     struct diag *diag)
{
	struct validation *validation = userdata;
	bool is_file = strcmp(name, validation->operand) == 0;
	const char *slash = is_file ? strrchr(name, '/') : NULL;
	int r = 0;

	(void)diag;
	for (size_t i = 0; r == 0 && i < model->component_count; i++)
		r = add_component(validation, model, slash ? slash + 1 : name, i);
	return r;
}

static int run(struct validation *validation, const struct operands *operands)
{
	bool json = validation->config->format == VALIDATE_JSON;
	size_t models = operands->count - 1;
	int r = sample_file_read(operands->words[models], &validation->table, &validation->diag);

	if (r < 0)
		return r;
	if (json)
		strbuf_add_str(&validation->out, "{\"results\":[");
	else
		report_add_head(&validation->out);
	for (size_t i = 0; r == 0 && i < models; i++) {
		validation->operand = operands->words[i];
		r = model_input_each(validation->operand, &validation->config->models, add_model,
				     validation, &validation->diag);
	}
	if (json)
		strbuf_add_str(&validation->out, "]}\n");
	if (r == 0)
		r = text_print(&validation->out, &validation->diag);
	return r;
}

static int run_command(const char *name, bool several, int argc, char *const *argv,
		       char *const *environ_)
{
	struct validate_config config = { .format = 0 };
	struct validation validation = { .config = &config };
	struct operands operands;
	int status = PROGRAM_USAGE;

	if (settings_read(&validate_options, shorts, argc, argv, environ_, &config.settings,
			  &operands, &validation.diag) < 0) {
		(void)fprintf(stderr, "kepler-model %s: %s\n", name, validation.diag.text);
		return PROGRAM_USAGE;
	}
	if (operands.count < 2 || (!several && operands.count > 2)) {
		(void)fprintf(stderr, "usage: kepler-model %s MODEL%s CSV [OPTION]...\n", name,
			      several ? "..." : "");
	} else if (run(&validation, &operands) < 0) {
		(void)fprintf(stderr, "kepler-model %s: %s\n", name, validation.diag.text);
		status = 1;
	} else {
		status = validation.is_beyond;
	}
	strbuf_release(&validation.out);
	sample_table_release(&validation.table);
	operands_release(&operands);
	options_release(&validate_options, &config.settings.options);
	return status;
}

int validate_main(int argc, char *const *argv, char *const *environ_)
{
	return run_command("validate", false, argc, argv, environ_);
}

int compare_main(int argc, char *const *argv, char *const *environ_)
{
	return run_command("compare", true, argc, argv, environ_);
}
