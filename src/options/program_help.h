/* SPDX-License-Identifier: Apache-2.0 */
/* Help of a program, as text of OPTIONS_HELP_WIDTH columns. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "options/command.h"

/* One screen: the commands, the options that many need, an example, and where the rest is. */
void program_help(const struct program *program, struct strbuf *out);
/* The same, and all options of the unnamed command. */
void program_help_all(const struct program *program, struct strbuf *out);
/* The unnamed command's options in @section; false: there is none. */
bool program_help_section(const struct program *program, const char *section, struct strbuf *out);
void program_help_command(const struct program *program, const struct command *command,
			  struct strbuf *out);
/* The unnamed command's options; NULL: none. */
const struct option_set *program_options(const struct program *program);
/* "rule measure FILE [OPTION]..." */
void program_add_synopsis(const struct program *program, const struct command *command,
			  struct strbuf *out);
