// SPDX-License-Identifier: Apache-2.0
#include "modelling/plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "modelling/model_command.h"
#include "modelling/model_input.h"
#include "modelling/sample_file.h"
#include "options/program.h"
#include "report/html_report.h"
#include "samples/sample_input.h"
#include "training/recent_columns.h"

struct plot_config {
	struct settings settings;
	char *output, *held_out;
	struct model_input_filter models;
};

#define OWN(member) .offset = offsetof(struct plot_config, member)

static const struct option own_rows[] = {
	TEXT_FLAG("output", OWN(output), "-", "FILE", "File for the page. -: standard output."),
	TEXT_FLAG("held-out", OWN(held_out), "", "FILE",
		  "Predictions of held-out rows, as written by train-from-data --held-out. The "
		  "error charts then show these."),
};
static const struct option_section own_sections[] = {
	{ own_rows, ARRAY_SIZE(own_rows), 0 },
	{ model_input_rows_of_options, MODEL_INPUT_OPTION_COUNT,
	  offsetof(struct plot_config, models) },
};

const struct option_set plot_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct plot_config),
};

static int plot(void *userdata, const struct operands *operands, struct diag *diag)
{
	const struct plot_config *config = userdata;
	CLEANUP(trained_model_release) struct trained_model model = { .component_count = 0 };
	CLEANUP(sample_table_release) struct sample_table samples = { .rows = 0 };
	CLEANUP(sample_table_release) struct sample_table held_out = { .rows = 0 };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	bool has_held_out = *config->held_out;
	int r = model_input_best(operands->words[0], &config->models, &model, diag);

	if (r == 0)
		r = sample_input_read(operands->words[1], &samples, diag);
	if (r == 0)
		r = recent_columns_add_of_model(&samples, &model, diag);
	if (r == 0 && has_held_out)
		r = sample_input_read(config->held_out, &held_out, diag);
	if (r == 0)
		r = html_report_add(&out, &model, &samples, has_held_out ? &held_out : NULL, diag);
	return r < 0 ? r : output_write(config->output, &out, diag);
}

int plot_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = {
		.name = "plot", .set = &plot_options, .min = 2, .max = 2, .run = plot
	};

	return model_command_run(&command, argc, argv, environ_);
}
