/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part that all commands of kepler-model share: common options, and the operands after them.
 */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "options/operands.h"
#include "options/option_set.h"

/* The beginning of each command's own struct. */
struct settings {
	struct option_values options;
	struct log_options log;
};

extern const struct option_program settings_program;
extern const struct option_set settings_options; /* the base of each command's set */

/*
 * Reads @set from the command line into @ret, and all other words into @operands. @shorts are
 * names that upstream's program has; NULL: none. 0, or PROGRAM_USAGE after everything that is wrong
 * has been printed on standard error. On success both are to be released, by options_release() and
 * operands_release().
 */
int settings_read(const struct option_set *set, const struct short_flag *shorts, int argc,
		  char *const *argv, char *const *environ_, struct settings *ret,
		  struct operands *operands);
/* Prints "kepler-model: @diag" on standard error; EXIT_FAILURE. */
int settings_fail(const struct diag *diag);
