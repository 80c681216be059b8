/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as a table of commands. The behaviour that all our programs share is implemented here
 * only: --help of the program and of each command, --version, and the errors for an unknown command
 * and for wrong operands.
 */
#pragma once

#include <stdio.h>

#include "options/command.h"

#define PROGRAM_USAGE 2 /* exit status of wrong use */
/*
 * A command has too few operands, or too many: the program prints its usage, and exits with
 * PROGRAM_USAGE.
 */
#define PROGRAM_WRONG_WORDS (-1)

/*
 * Runs the command that @argv names; argv[0] is the program itself. Help and version go to @out,
 * errors to @err. Returns the exit status.
 */
int program_run(const struct program *program, int argc, char *const *argv, char *const *environ_,
		FILE *out, FILE *err);
/* As program_run(), as all that a main() does. */
int program_main(const struct program *program, int argc, char *const *argv);
