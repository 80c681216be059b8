// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/command_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "options/layers.h"

struct base_values {
	struct option_values options;
};

static const struct option base_rows[] = {
	{ "config.file", NULL, OPTION_STRING, .offset = offsetof(struct base_values, options.file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true, .not_in_file = true,
	  .help = "A file (YAML) with options of this command." },
};
static const struct option_section base_sections[] = { { base_rows, ARRAY_SIZE(base_rows), 0 } };
static const char *const no_variables[] = { NULL };

const struct option_program model_program = {
	.name = "kepler-model",
	.prefix = "KEPLER_MODEL_",
	.other_variables = no_variables,
	.default_file = "",
	.reference_head = "",
};

const struct option_set model_base_options = {
	.program = &model_program,
	.sections = base_sections,
	.section_count = ARRAY_SIZE(base_sections),
	.size = sizeof(struct base_values),
};

/* Flags for options_load(), of which those that were made from short ones are owned. */
struct flags {
	char **words, **owned;
	size_t count, owned_count;
};

static void flags_release(struct flags *flags)
{
	for (size_t i = 0; i < flags->owned_count; i++)
		free(flags->owned[i]);
	free(flags->owned);
	free(flags->words);
}

static bool takes_value(const struct option_set *set, const char *name)
{
	size_t index = option_find(set, name);

	return !strchr(name, '=') && index != OPTION_NONE &&
	       option_at(set, index)->type != OPTION_BOOL;
}

/* "-i" as "--input"; NULL: no such flag. */
static const char *long_name(const struct short_flag *shorts, const char *word)
{
	for (; shorts && shorts->name; shorts++) {
		if (strcmp(shorts->name, word) == 0)
			return shorts->option;
	}
	return NULL;
}

/* Adds what @word is in full: 1 where it takes the next word, else 0, or -ENOMEM, -EINVAL. */
static int add_flag(const struct option_set *set, const struct short_flag *shorts, char *word,
		    struct flags *flags, struct diag *diag)
{
	const char *name = word[1] == '-' ? word + 2 : long_name(shorts, word);

	if (!name)
		return diag_set(diag, -EINVAL, "%.40s: unknown flag; --help lists all", word);
	if (word[1] != '-') {
		if (asprintf(&word, "--%s", name) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
		flags->owned[flags->owned_count++] = word;
	}
	flags->words[flags->count++] = word;
	return takes_value(set, name);
}

static int sort(const struct option_set *set, const struct short_flag *shorts, int argc,
		char *const *argv, struct flags *flags, struct command_line *line,
		struct diag *diag)
{
	for (int i = 0; i < argc; i++) {
		int r = 0;

		if (argv[i][0] == '-' && argv[i][1])
			r = add_flag(set, shorts, argv[i], flags, diag);
		else if (line->count == OPERANDS_MAX)
			return diag_set(diag, -EINVAL, "more than %d operands", OPERANDS_MAX);
		else
			line->operands[line->count++] = argv[i];
		if (r < 0)
			return r;
		if (r > 0 && i + 1 < argc)
			flags->words[flags->count++] = argv[++i];
	}
	return 0;
}

int command_line_load(const struct option_set *set, const struct short_flag *shorts, int argc,
		      char *const *argv, struct option_values *values, struct command_line *line,
		      struct diag *diag)
{
	size_t room = (size_t)(argc > 0 ? argc : 0) + 1;
	CLEANUP(flags_release)
	struct flags flags = {
		.words = calloc(room, sizeof(*flags.words)),
		.owned = calloc(room, sizeof(*flags.owned)),
	};
	struct option_args args = { .default_file = "" };
	int r;

	line->count = 0;
	if (!flags.words || !flags.owned)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = sort(set, shorts, argc, argv, &flags, line, diag);
	if (r < 0)
		return r;
	args.argc = (int)flags.count;
	args.argv = flags.words;
	return options_load(set, &args, values, diag);
}

const char *data_path_of(const char *data_path, const char *name, char buf[static DATA_PATH_SIZE])
{
	if (!*data_path || !*name || name[0] == '/' || strcmp(name, "-") == 0 ||
	    path_join(buf, DATA_PATH_SIZE, data_path, name) < 0)
		return name;
	return buf;
}
