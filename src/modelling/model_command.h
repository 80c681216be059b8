/* SPDX-License-Identifier: Apache-2.0 */
/* A command of kepler-model: reads its options and operands, runs, and reports a failure. */
#pragma once

#include "base/diag.h"
#include "modelling/settings.h"

struct model_command {
	const char *name; /* in messages; NULL: only the program's */
	const struct option_set *set;
	const struct short_flag *shorts; /* short names of upstream's program, or NULL */
	size_t min, max;                 /* operands */
	/*
	 * @config is the struct of @set, which begins with a struct settings. 0, a status
	 * above 0, PROGRAM_WRONG_WORDS, or -errno with a diagnosis; without one it has reported the
	 * failure itself.
	 */
	int (*run)(void *config, const struct operands *operands, struct diag *diag);
};

/* The exit status. */
int model_command_run(const struct model_command *command, int argc, char *const *argv,
		      char *const *environ_);
