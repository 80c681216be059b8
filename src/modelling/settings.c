// SPDX-License-Identifier: Apache-2.0
#include "modelling/settings.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "options/layers.h"
#include "options/program.h"

const struct option_program settings_program = {
	.name = "kepler-model",
	.prefix = "KEPLER_MODEL_",
	.default_file = "",
	.reference_head = "",
};

static const struct option_choice levels[] = { { "debug", LOG_LEVEL_DEBUG },
					       { "info", LOG_LEVEL_INFO },
					       { "warn", LOG_LEVEL_WARN },
					       { "error", LOG_LEVEL_ERROR },
					       { NULL } };
static const struct option_choice formats[] = { { "text", LOG_FORMAT_TEXT },
						{ "json", LOG_FORMAT_JSON },
						{ NULL } };

static const struct option rows[] = {
	{ "config.file", NULL, OPTION_STRING, .offset = offsetof(struct settings, options.file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .not_in_file = true,
	  .help = "YAML file with options of this command." },
	{ "log.level", NULL, OPTION_ENUM, .offset = offsetof(struct settings, log.level),
	  .choices = levels, .default_text = "info", .metavar = "LEVEL",
	  .help = "Lowest severity of messages to log." },
	{ "log.format", NULL, OPTION_ENUM, .offset = offsetof(struct settings, log.format),
	  .choices = formats, .default_text = "text", .metavar = "FORMAT",
	  .help = "Log format on standard error: logfmt (text) or JSON lines." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set settings_options = {
	.program = &settings_program,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct settings),
};

int settings_read(const struct option_set *set, const struct short_flag *shorts, int argc,
		  char *const *argv, char *const *environ_, struct settings *ret,
		  struct operands *operands)
{
	struct option_args args = { .environ_ = environ_ };
	struct diag diag = { "" };

	if (operands_sort(set, shorts, argc, argv, operands, &diag) < 0) {
		(void)settings_fail(&diag);
		return PROGRAM_USAGE;
	}
	args.argc = (int)operands->flag_count;
	args.argv = operands->flags;
	if (options_load_or_print(set, &args, &ret->options, stderr) < 0) {
		operands_release(operands);
		return PROGRAM_USAGE;
	}
	log_setup(ret->log.level, ret->log.format);
	if (ret->options.warnings[0])
		log_warn("%s", ret->options.warnings);
	return 0;
}

int settings_fail(const struct diag *diag)
{
	diag_print(diag, settings_program.name, stderr);
	return EXIT_FAILURE;
}
