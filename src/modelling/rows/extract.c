// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/extract.h"

#include <errno.h>
#include <stdio.h>

#include "base/macro.h"
#include "modelling/data_path.h"
#include "modelling/model_command.h"
#include "modelling/rows/extract_options.h"
#include "modelling/rows/paired_series.h"
#include "modelling/sample_file.h"
#include "options/layers.h"
#include "options/program.h"

struct extract_config {
	struct settings settings;
	struct extract_values extract;
	char *host, *vm;
};

#define OWN(member) .offset = offsetof(struct extract_config, member)

static const struct option own_rows[] = {
	TEXT_FLAG("host", OWN(host), "", "FILE",
		  "Rows of a virtual machine: power from this file, which has the series of its "
		  "host at the same time; activity from the operand, which has its own."),
	TEXT_FLAG("vm", OWN(vm), "", "NAME",
		  "With --host: the name or id of the virtual machine in the host's series."),
};

static const struct option_section sections[] = {
	{ own_rows, ARRAY_SIZE(own_rows), 0 },
	{ extract_rows_of_options, EXTRACT_OPTION_COUNT, offsetof(struct extract_config, extract) },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct extract_config *config = (const struct extract_config *)(const void *)values;

	if (!*config->host == !*config->vm)
		return 0;
	return diag_add(diag, -EINVAL, "--host=FILE and --vm=NAME need each other");
}

const struct option_set extract_command_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct extract_config),
	.check = check,
};

static const struct short_flag shorts[] = { { "-i", "input" },          { "-o", "output" },
					    { "-e", "energy-source" },  { "-ot", "output-type" },
					    { "-fg", "feature-group" }, { NULL, NULL } };

/* Rows of the virtual machine whose own series are in @path. */
static int extract_pair(const struct extract_config *config, const struct extract_options *options,
			const char *path, struct extraction *ret, struct diag *diag)
{
	char host[DATA_PATH_SIZE];
	CLEANUP(paired_series_release)
	struct paired_series series = {
		.guest = path,
		.host = data_path_of(config->extract.data_path, config->host, host),
		.vm = config->vm,
		.others = STRBUF_INIT,
	};
	int r = extraction_run(options, paired_series_read, &series, ret, diag);

	return r < 0 ? r : paired_series_check(&series, diag);
}

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
	path = data_path_of(data_path, path, input);
	r = *config->host ? extract_pair(config, &options, path, &extraction, diag)
			  : extract_any(&options, path, &extraction, diag);
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
