/* SPDX-License-Identifier: Apache-2.0 */
/* A program and its commands, as a table. */
#pragma once

#include <stddef.h>

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
