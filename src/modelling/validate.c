// SPDX-License-Identifier: Apache-2.0
#include "modelling/validate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "model/trained_model.h"
#include "modelling/model_command.h"
#include "modelling/model_input.h"
#include "modelling/sample_file.h"
#include "modelling/training_report.h"
#include "options/program.h"
#include "repository/model_json.h"
#include "samples/sample_input.h"
#include "training/model_validation.h"
#include "training/recent_columns.h"

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
	  .help = "Output format." },
	{ "limit", NULL, OPTION_U32, .offset = offsetof(struct validate_config, limit_percent),
	  .max = 1000, .default_text = "0", .metavar = "PERCENT", .only_flag = true,
	  .help = "Exit with status 1 if the sum of a component's errors exceeds this share of its "
		  "power; 0: no limit. A model that kepler would refuse also gives status 1." },
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

/* A model, and errors of its components. */
struct judged_model {
	char *name;
	struct trained_model model;
	struct model_validation components[MODEL_COMPONENTS_MAX];
	struct training_result results[MODEL_COMPONENTS_MAX];
	struct diag refusal; /* why kepler does not use it; "": it does */
};

struct validation {
	const struct validate_config *config;
	struct sample_table rows;
	struct judged_model *models;
	size_t model_count, models_size;
	struct strbuf out;
	const char *operand; /* whose models are loaded */
	json_t *json;        /* results; NULL: a table is printed */
	bool is_beyond;      /* the limit, or what kepler uses */
	struct diag diag;
};

/* A file is shown by its name, a model of a pipeline by its place there. */
static int take_model(void *userdata, const char *name, struct trained_model *model,
		      struct diag *diag)
{
	struct validation *validation = userdata;
	bool is_file = strcmp(name, validation->operand) == 0;
	const char *slash = is_file ? strrchr(name, '/') : NULL;
	struct judged_model *judged;

	if (ARRAY_RESERVE(validation->models, validation->models_size,
			  validation->model_count + 1) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	judged = &validation->models[validation->model_count++];
	*judged = (struct judged_model){ .model = *model };
	*model = (struct trained_model){ .node_type = -1 };
	judged->name = strdup(slash ? slash + 1 : name);
	if (trained_model_check(&judged->model, &judged->refusal) < 0)
		validation->is_beyond = true;
	return judged->name ? 0 : diag_set(diag, -ENOMEM, "out of memory");
}

static int load_models(struct validation *validation, const struct operands *operands)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i + 1 < operands->count; i++) {
		validation->operand = operands->words[i];
		r = model_input_each(validation->operand, &validation->config->models, take_model,
				     validation, &validation->diag);
	}
	return r;
}

static int add_recent_means(struct validation *validation)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < validation->model_count; i++)
		r = recent_columns_add_of_model(&validation->rows, &validation->models[i].model,
						&validation->diag);
	return r;
}

/* A model that cannot be judged has a failure as its result. */
static void begin_models(struct validation *validation)
{
	const char *names[SAMPLE_COLUMNS_MAX];

	sample_table_get_names(&validation->rows, names);
	for (size_t i = 0; i < validation->model_count; i++) {
		struct judged_model *judged = &validation->models[i];

		for (size_t c = 0; c < judged->model.component_count; c++)
			(void)model_validation_begin(&judged->components[c], &judged->model, c,
						     names, validation->rows.column_count,
						     &judged->results[c].failure);
	}
}

static int judge_row(struct validation *validation, const double *values)
{
	for (size_t i = 0; i < validation->model_count; i++) {
		struct judged_model *judged = &validation->models[i];

		for (size_t c = 0; c < judged->model.component_count; c++) {
			if (!judged->results[c].failure.text[0] &&
			    model_validation_add(&judged->components[c], values) < 0)
				return diag_set(&validation->diag, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static void finish_component(struct validation *validation, struct judged_model *judged, size_t c)
{
	struct training_result *result = &judged->results[c];
	uint32_t limit = validation->config->limit_percent;
	struct diag failure = result->failure;

	if (!failure.text[0])
		(void)model_validation_finish(&judged->components[c], BOOTSTRAP_SEED, result,
					      &failure);
	result->failure = failure;
	if (failure.text[0] || (limit && !(result->score.weighted_percent <= limit)))
		validation->is_beyond = true;
}

static void print_component(struct validation *validation, const struct judged_model *judged,
			    size_t c)
{
	const char *component = judged->model.components[c].name;

	if (!validation->json) {
		report_add_line(component, judged->name, &judged->results[c], &validation->out);
		return;
	}
	(void)json_array_append_new(validation->json,
				    report_object(component, judged->name, &judged->results[c]));
}

/* Prints why kepler would refuse a model, whatever its errors. */
static void print_refusal(struct validation *validation, const struct judged_model *judged)
{
	if (validation->json)
		(void)json_array_append_new(validation->json,
					    json_pack("{s:s, s:s}", "model", judged->name,
						      "refused", judged->refusal.text));
	else
		strbuf_addf(&validation->out, "kepler refuses %s: %s\n", judged->name,
			    judged->refusal.text);
}

static int print_models(struct validation *validation)
{
	CLEANUP(model_json_release) json_t *json = NULL;

	if (validation->config->format == VALIDATE_JSON) {
		validation->json = json_array();
		json = json_pack("{s:o}", "results", validation->json);
	} else {
		report_add_head(&validation->out);
	}
	for (size_t i = 0; i < validation->model_count; i++) {
		struct judged_model *judged = &validation->models[i];

		for (size_t c = 0; c < judged->model.component_count; c++) {
			finish_component(validation, judged, c);
			print_component(validation, judged, c);
		}
		if (judged->refusal.text[0])
			print_refusal(validation, judged);
	}
	if (json)
		(void)model_json_dump(json, &validation->out); /* it notes a failure */
	return output_write("-", &validation->out, &validation->diag);
}

static int judge(struct validation *validation, const struct operands *operands)
{
	const char *path = operands->words[operands->count - 1];
	double values[SAMPLE_COLUMNS_MAX];
	int r = load_models(validation, operands);

	if (r == 0)
		r = sample_input_read(path, &validation->rows, &validation->diag);
	if (r == 0)
		r = add_recent_means(validation);
	if (r < 0)
		return r;
	begin_models(validation);
	for (size_t row = 0; r == 0 && row < validation->rows.rows; row++) {
		sample_table_get_row(&validation->rows, row, values);
		r = judge_row(validation, values);
	}
	return r < 0 ? r : print_models(validation);
}

static void release(struct validation *validation)
{
	for (size_t i = 0; i < validation->model_count; i++) {
		for (size_t c = 0; c < MODEL_COMPONENTS_MAX; c++)
			model_validation_release(&validation->models[i].components[c]);
		trained_model_release(&validation->models[i].model);
		free(validation->models[i].name);
	}
	free(validation->models);
	sample_table_release(&validation->rows);
	strbuf_release(&validation->out);
}

static int run(void *config, const struct operands *operands, struct diag *diag)
{
	struct validation validation = { .config = config };
	int r = judge(&validation, operands);

	if (r < 0)
		(void)diag_set(diag, r, "%s", validation.diag.text);
	if (r == 0)
		r = validation.is_beyond;
	release(&validation);
	return r;
}

int validate_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "validate",
						      .set = &validate_options,
						      .shorts = shorts,
						      .min = 2,
						      .max = 2,
						      .run = run };

	return model_command_run(&command, argc, argv, environ_);
}

int compare_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "compare",
						      .set = &validate_options,
						      .shorts = shorts,
						      .min = 2,
						      .max = SIZE_MAX,
						      .run = run };

	return model_command_run(&command, argc, argv, environ_);
}
