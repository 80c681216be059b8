/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as a table of commands. The behaviour that all our programs share is implemented here
 * only: --help of the program and of each command, --version, and the errors for an unknown command
 * and for wrong operands.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "options/option_set.h"

struct command {
	const char *name;
	/* argv begins behind the command's name; the exit status, or PROGRAM_WRONG_WORDS */
	int (*run)(int argc, char *const *argv, char *const *environ_);
	const char *synopsis; /* "doctor [--json]" */
	const char *summary;  /* "what this machine has" */
	const char *more;     /* lines below its summary, and in its own --help, or NULL */
	const char *operands; /* what it takes beside options, for its own --help; NULL: nothing */
	const char *what;     /* it does, in full, for its own --help; NULL: it has none */
	const struct option_set *options; /* that it takes; NULL: none of its own */
};

struct program {
	const char *name;  /* "kepler" */
	const char *about; /* it is, for --help: lines without the last newline */
	const struct command *commands;
	size_t count;
	/*
	 * The command for flags without a command, and for no argument at all; NULL: that is a
	 * usage error.
	 */
	const struct command *unnamed;
};

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
