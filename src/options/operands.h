/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line that are no flags, such as files, and the flags that are left. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "options/option_set.h"

struct operands {
	const char **words; /* [count], of argv */
	size_t count;
	char **flags; /* [flag_count], of argv, for options_load() */
	size_t flag_count;
};

/*
 * Sorts @argv, where flags may stand before, between and behind the words. A flag without "=" that
 * is no switch of @set takes the next word as its value. 0 or -ENOMEM.
 */
int operands_sort(const struct option_set *set, int argc, char *const *argv, struct operands *ret);
void operands_release(struct operands *operands);
/* Whether a flag sets the option @name. */
bool operands_have_flag(const struct operands *operands, const char *name);
