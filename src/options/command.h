/* SPDX-License-Identifier: Apache-2.0 */
/* A program and its commands, as a table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "options/option_set.h"

struct command {
	const char *name;
	/* argv begins behind the command's name; the exit status, or PROGRAM_WRONG_WORDS */
	int (*run)(int argc, char *const *argv, char *const *environ_);
	const char *summary;  /* "what this machine has", in 58 columns */
	const char *more;     /* lines of its own --help, or NULL */
	const char *operands; /* its operands, without options, for its own --help; NULL: none */
	/* Its options come before its operands, which are a command with options of its own. */
	bool options_first;
	const char *what; /* it does, in full, for its own --help; NULL: it has none */
	const struct option_set *options; /* that it takes; NULL: none of its own */
	/*
	 * The possible values of its first operand, for completion: words with spaces between them;
	 * "": not known, and no file; NULL: a file.
	 */
	const char *words;
};

/* An option that many need, for --help of the program, in words of 44 columns. */
struct common_option {
	const char *name, *brief;
};

/* A word that is not a command, as in "top", and what to do instead. */
struct command_hint {
	const char *word, *advice;
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
	/* The rest may be NULL; lists end with a NULL name. */
	const struct common_option *common; /* of the unnamed command's options */
	const struct command_hint *hints;
	const char *example; /* lines of --help */
};
