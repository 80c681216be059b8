// SPDX-License-Identifier: Apache-2.0
#include "options/operands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a flag without its value; unknown ones are reported when the options are loaded. */
static bool takes_next(const struct option_set *set, const char *arg)
{
	size_t index;

	if (strchr(arg, '='))
		return false;
	index = option_find(set, arg + 2);
	return index != OPTION_NONE && option_at(set, index)->type != OPTION_BOOL;
}

int operands_sort(const struct option_set *set, int argc, char *const *argv, struct operands *ret)
{
	size_t room = (size_t)(argc > 0 ? argc : 0) + 1;

	*ret = (struct operands){ .words = calloc(room, sizeof(*ret->words)),
				  .flags = calloc(room, sizeof(*ret->flags)) };
	if (!ret->words || !ret->flags) {
		operands_release(ret);
		return -ENOMEM;
	}
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) != 0) {
			ret->words[ret->count++] = argv[i];
			continue;
		}
		ret->flags[ret->flag_count++] = argv[i];
		if (takes_next(set, argv[i]) && i + 1 < argc)
			ret->flags[ret->flag_count++] = argv[++i];
	}
	return 0;
}

void operands_release(struct operands *operands)
{
	free(operands->words);
	free(operands->flags);
	*operands = (struct operands){ 0 };
}

bool operands_have_flag(const struct operands *operands, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < operands->flag_count; i++) {
		const char *flag = operands->flags[i];

		if (strncmp(flag, "--", 2) == 0 && strncmp(flag + 2, name, len) == 0 &&
		    (flag[2 + len] == '\0' || flag[2 + len] == '='))
			return true;
	}
	return false;
}
