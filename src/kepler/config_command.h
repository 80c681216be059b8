/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler config check|show|needs|sample|schema`, and the parts of --help that are made from the
 * option table.
 */
#pragma once

#include <stdio.h>

#include "config/config.h"

/*
 * `kepler config …`: @args holds what follows "config". Writes to @out, errors to @err. The
 * program's exit status: 0, 1 (cannot write) or 2 (usage error, invalid configuration).
 */
int config_command(const struct option_args *args, FILE *out, FILE *err);
/* For a row of main's table of commands. */
int config_command_main(int argc, char *const *argv, char *const *environ_);
/* One line a subcommand, for `kepler --help`. */
extern const char config_command_usage[];
