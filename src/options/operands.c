// SPDX-License-Identifier: Apache-2.0
#include "options/operands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the flag takes the next word as its value. */
static bool takes_next(const struct option_set *set, const char *arg)
{
	size_t index;

	if (strchr(arg, '='))
		return false;
	index = option_find(set, arg + 2);
	return index != OPTION_NONE && option_at(set, index)->type != OPTION_BOOL &&
	       !option_at(set, index)->bare;
}

/* "-i" as "input"; NULL: it is not a known short flag. */
static const char *long_name(const struct short_flag *shorts, const char *word)
{
	for (; shorts && shorts->name; shorts++) {
		if (strcmp(shorts->name, word) == 0)
			return shorts->option;
	}
	return NULL;
}

/* @word, or the long name of a known short flag; NULL: out of memory. */
static char *in_full(const struct short_flag *shorts, char *word, struct operands *operands)
{
	const char *name = long_name(shorts, word);
	char *full = NULL;

	if (!name)
		return word;
	if (asprintf(&full, "--%s", name) < 0)
		return NULL;
	operands->owned[operands->owned_count++] = full;
	return full;
}

static bool is_flag(const struct short_flag *shorts, const char *word)
{
	return strncmp(word, "--", 2) == 0 || (shorts && word[0] == '-' && word[1]);
}

static int sort(const struct option_set *set, const struct short_flag *shorts, int argc,
		char *const *argv, struct operands *ret)
{
	for (int i = 0; i < argc; i++) {
		char *flag;

		if (!is_flag(shorts, argv[i])) {
			ret->words[ret->count++] = argv[i];
			continue;
		}
		flag = in_full(shorts, argv[i], ret);
		if (!flag)
			return -ENOMEM;
		ret->flags[ret->flag_count++] = flag;
		if (takes_next(set, flag) && i + 1 < argc)
			ret->flags[ret->flag_count++] = argv[++i];
	}
	return 0;
}

int operands_sort(const struct option_set *set, const struct short_flag *shorts, int argc,
		  char *const *argv, struct operands *ret, struct diag *diag)
{
	size_t room = (size_t)(argc > 0 ? argc : 0) + 1;
	int r = -ENOMEM;

	*ret = (struct operands){ .words = calloc(room, sizeof(*ret->words)),
				  .flags = calloc(room, sizeof(*ret->flags)),
				  .owned = calloc(room, sizeof(*ret->owned)) };
	if (ret->words && ret->flags && ret->owned)
		r = sort(set, shorts, argc, argv, ret);
	if (r < 0)
		operands_release(ret);
	return r < 0 ? diag_set(diag, r, "out of memory") : 0;
}

void operands_release(struct operands *operands)
{
	for (size_t i = 0; operands->owned && i < operands->owned_count; i++)
		free(operands->owned[i]);
	free(operands->owned);
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
