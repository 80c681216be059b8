/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line that are no flags, such as files, and the flags that are left. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "options/option_set.h"

/* A short name of an option, as other programs have it. */
struct short_flag {
	const char *name; /* "-i"; NULL ends a list */
	const char *option;
};

struct operands {
	const char **words; /* [count], of argv */
	size_t count;
	char **flags; /* [flag_count], of argv or owned, for options_load() */
	size_t flag_count;
	char **owned; /* [owned_count]: what short flags are in full */
	size_t owned_count;
};

/*
 * Sorts @argv; flags may be before, between and after the words. A flag without "=" that is not a
 * switch of @set takes the next word as its value. With @shorts (NULL: there are none) a word that
 * begins with one "-" is a short flag, except "-" itself. Unknown flags are kept as they are:
 * options_load() reports all of them together. 0, or -ENOMEM with a diagnosis.
 */
int operands_sort(const struct option_set *set, const struct short_flag *shorts, int argc,
		  char *const *argv, struct operands *ret, struct diag *diag);
void operands_release(struct operands *operands);
/* Returns true if a flag sets the option @name. */
bool operands_have_flag(const struct operands *operands, const char *name);
