// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/builtin.h"

#include <string.h>

#include "base/macro.h"
#include "kepler-model/builtin_components.h"
#include "kepler-model/builtin_options.h"
#include "kepler-model/builtin_platform.h"
#include "options/layers.h"
#include "options/program.h"

#define OWN(member) .offset = offsetof(struct builtin_config, member)

static const struct option rows[] = {
	{ "write", NULL, OPTION_STRING, OWN(write), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "C source file for the fitted weights." },
	{ "expect", NULL, OPTION_STRING, OWN(expect), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "The C header that the model's answers for made-up machines are written to, "
		  "for its test." },
	{ "date", NULL, OPTION_STRING, OWN(date), .default_text = "an unknown day",
	  .metavar = "DATE", .only_flag = true,
	  .help = "The date that the source names. The clock is not read, so the same rows give "
		  "the same file." },
	{ "table", NULL, OPTION_BOOL, OWN(table), .default_text = "false", .only_flag = true,
	  .help = "Also print the errors with and without each part of the model, and how many "
		  "rows lie within its bounds, by class of machines." },
	{ "refit", NULL, OPTION_BOOL, OWN(refit), .default_text = "false", .only_flag = true,
	  .help = "Also print the errors of models that are fitted anew without the machines "
		  "that they are asked for." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set builtin_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct builtin_config),
};

/* A model that is built in: what makes it of @path, and prints to @out. */
static const struct kind {
	const char *name;
	int (*train)(const struct builtin_config *config, const char *path, struct strbuf *out,
		     struct diag *diag);
} kinds[] = {
	{ "platform", builtin_platform_train },
	{ "components", builtin_components_train },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

static int train(const struct builtin_config *config, const struct operands *operands)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	const struct kind *kind = find_kind(operands->words[0]);
	struct diag diag = { "" };

	if (!kind) {
		(void)diag_set(&diag, 0, "train-builtin: there is no model \"%.40s\": see --help",
			       operands->words[0]);
		(void)settings_fail(&diag);
		return PROGRAM_USAGE;
	}
	if (kind->train(config, operands->words[1], &out, &diag) < 0)
		return settings_fail(&diag);
	return settings_print(&out);
}

int train_builtin_main(int argc, char *const *argv, char *const *environ_)
{
	struct builtin_config config = { 0 };
	struct operands operands;
	int status = settings_load(&builtin_options, argc, argv, environ_, 2, 2, &config.settings,
				   &operands);

	if (status != 0)
		return status;
	status = train(&config, &operands);
	operands_release(&operands);
	options_release(&builtin_options, &config.settings.options);
	return status;
}
