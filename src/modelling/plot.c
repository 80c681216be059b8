// SPDX-License-Identifier: Apache-2.0
#include "modelling/plot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "modelling/model_input.h"
#include "modelling/sample_file.h"
#include "modelling/settings.h"
#include "options/layers.h"
#include "options/program.h"
#include "report/html_report.h"
#include "samples/sample_input.h"

struct plot_config {
	struct settings settings;
	char *output, *held_out;
	struct model_input_filter models;
};

#define OWN(member) .offset = offsetof(struct plot_config, member)

static const struct option own_rows[] = {
	{ "output", NULL, OPTION_STRING, OWN(output), .default_text = "-", .metavar = "FILE",
	  .only_flag = true, .help = "File for the page. -: standard output." },
	{ "held-out", NULL, OPTION_STRING, OWN(held_out), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "Predictions of held-out rows, as written by train-from-data --held-out. The "
		  "error charts then show these." },
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

static int plot(const struct plot_config *config, const struct operands *operands,
		struct strbuf *out, struct diag *diag)
{
	CLEANUP(trained_model_release) struct trained_model model = { .component_count = 0 };
	CLEANUP(sample_table_release) struct sample_table samples = { .rows = 0 };
	CLEANUP(sample_table_release) struct sample_table held_out = { .rows = 0 };
	bool has_held_out = *config->held_out;
	int r = model_input_best(operands->words[0], &config->models, &model, diag);

	if (r == 0)
		r = sample_input_read(operands->words[1], &samples, diag);
	if (r == 0 && has_held_out)
		r = sample_input_read(config->held_out, &held_out, diag);
	return r < 0 ? r
		     : html_report_add(out, &model, &samples, has_held_out ? &held_out : NULL,
				       diag);
}

static int write_page(const char *path, const struct strbuf *out, struct diag *diag)
{
	int r;

	if (strcmp(path, "-") == 0)
		return settings_print(out);
	r = write_output_file(path, out->data, out->len, 0644);
	return r < 0 ? settings_fail((diag_set(diag, r, "%s: %s", path, strerror(-r)), diag))
		     : EXIT_SUCCESS;
}

int plot_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct plot_config config = { 0 };
	struct operands operands;
	struct diag diag = { "" };
	int status = settings_load(&plot_options, argc, argv, environ_, 2, 2, &config.settings,
				   &operands);

	if (status != 0)
		return status;
	if (plot(&config, &operands, &out, &diag) < 0)
		status = settings_fail(&diag);
	else
		status = write_page(config.output, &out, &diag);
	operands_release(&operands);
	options_release(&plot_options, &config.settings.options);
	return status;
}
