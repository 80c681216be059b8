// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/extract.h"

#include <stdio.h>

#include "base/macro.h"
#include "modelling/data_path.h"
#include "modelling/model_command.h"
#include "modelling/rows/extract_options.h"
#include "modelling/sample_file.h"
#include "options/layers.h"
#include "options/program.h"

struct extract_config {
	struct settings settings;
	struct extract_values extract;
};

static const struct option_section sections[] = { { extract_rows_of_options, EXTRACT_OPTION_COUNT,
						    offsetof(struct extract_config, extract) } };

const struct option_set extract_command_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct extract_config),
};

static const struct short_flag shorts[] = { { "-i", "input" },          { "-o", "output" },
					    { "-e", "energy-source" },  { "-ot", "output-type" },
					    { "-fg", "feature-group" }, { NULL, NULL } };

static int extract(void *userdata, const struct operands *operands, struct diag *diag)
{
	struct extract_config *config = userdata;
	const char *path = operands->count ? operands->words[0] : config->extract.input;
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	CLEANUP(extraction_release) struct extraction extraction = { .step_us = 0 };
	struct extract_options options;
	char input[DATA_PATH_SIZE], output[DATA_PATH_SIZE];
	const char *data_path = config->extract.data_path;
	int r;

	if (!*path)
		return PROGRAM_WRONG_WORDS;
	extract_options_make(&config->extract, &options);
	r = extract_any(&options, data_path_of(data_path, path, input), &extraction, diag);
	if (r < 0)
		return r;
	extract_print_summary("extract", &extraction);
	(void)extraction_write_csv(&extraction, &text);
	return output_write(data_path_of(data_path, config->extract.output, output), &text, diag);
}

int extract_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "extract",
						      .set = &extract_command_options,
						      .shorts = shorts,
						      .max = 1,
						      .run = extract };

	return model_command_run(&command, argc, argv, environ_);
}
