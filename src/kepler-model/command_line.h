/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of a command of kepler-model: options of its table, operands, and the short
 * names that the model server's program has ("-i" for "--input"). There is no default file.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "options/option_set.h"

#define OPERANDS_MAX 64

extern const struct option_program model_program;
/* Base of each command's set: the command's struct begins with struct option_values. */
extern const struct option_set model_base_options;

struct short_flag {
	const char *name; /* "-i" */
	const char *option;
};

struct command_line {
	const char *operands[OPERANDS_MAX]; /* of argv */
	size_t count;
};

/*
 * Fills @values, of the set's size, and @line: 0, or -EINVAL, -ENOMEM with a diagnosis.
 * options_release() frees the values. @shorts ends with a NULL name; NULL: none.
 */
int command_line_load(const struct option_set *set, const struct short_flag *shorts, int argc,
		      char *const *argv, struct option_values *values, struct command_line *line,
		      struct diag *diag);

#define DATA_PATH_SIZE 4096

/*
 * A file's name in the folder @data_path, unless that is "", or the name is absolute or "-": @name,
 * or @buf with both.
 */
const char *data_path_of(const char *data_path, const char *name, char buf[static DATA_PATH_SIZE]);
