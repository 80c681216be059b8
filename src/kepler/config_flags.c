// SPDX-License-Identifier: Apache-2.0
/*
 * The command line: --a.b=c, --a.b c, --x and --no-x for switches, -- ends. Nothing else is taken:
 * a program that runs for months should not start with half of what was meant.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kepler/config_options.h"

#define FLAG_MAX 64

struct flag {
	size_t index;
	bool negated;
	const char *value; /* after "=", or NULL */
};

static int unknown_flag(const char *name, struct diag *diag)
{
	const char *word = strncmp(name, "no-", 3) == 0 ? name + 3 : name;
	char shown[96], near[FLAG_MAX];

	(void)config_printable(shown, sizeof(shown), name);
	if (option_nearest(word, false, near, sizeof(near)))
		return diag_set(diag, -EINVAL, "--%s: unknown flag; did you mean --%s%s?", shown,
				word == name ? "" : "no-", near);
	return diag_set(diag, -EINVAL, "--%s: unknown flag; --help lists all", shown);
}

/* Splits "--name=value"; @arg begins with "--". */
static int parse_flag(const char *arg, struct flag *ret, struct diag *diag)
{
	const char *equals = strchr(arg, '=');
	size_t len = strcspn(arg + 2, "=");
	char name[256];
	size_t index, count;
	bool negated = false;

	len = len < sizeof(name) ? len : sizeof(name) - 1;
	memcpy(name, arg + 2, len);
	name[len] = '\0';
	index = option_find(name);
	if (index == OPTION_NONE && strncmp(name, "no-", 3) == 0) {
		index = option_find(name + 3);
		negated = index != OPTION_NONE && config_options(&count)[index].type == OPTION_BOOL;
		if (!negated)
			index = OPTION_NONE;
	}
	if (index == OPTION_NONE)
		return unknown_flag(name, diag);
	if (negated && equals)
		return diag_set(diag, -EINVAL, "--%s: takes no value", name);
	*ret = (struct flag){ index, negated, equals ? equals + 1 : NULL };
	return 0;
}

static int unexpected_argument(const char *arg, struct diag *diag)
{
	char shown[96];

	return diag_set(diag, -EINVAL, "unexpected argument \"%s\"; flags begin with --",
			config_printable(shown, sizeof(shown), arg));
}

int config_read_flags(struct config *config, int argc, char *const *argv, struct diag *diag)
{
	size_t count;
	const struct config_option *options = config_options(&count);

	for (int i = 0; i < argc; i++) {
		struct diag why = { 0 };
		struct flag flag = { 0 };
		int r;

		if (strcmp(argv[i], "--") == 0)
			return i + 1 < argc ? unexpected_argument(argv[i + 1], diag) : 0;
		if (strncmp(argv[i], "--", 2) != 0)
			return unexpected_argument(argv[i], diag);
		r = parse_flag(argv[i], &flag, diag);
		if (r < 0)
			return r;
		if (!flag.value && options[flag.index].type == OPTION_BOOL)
			flag.value = flag.negated ? "false" : "true";
		if (!flag.value && i + 1 == argc)
			return diag_set(diag, -EINVAL, "--%s: wants a value: --%s=%s",
					options[flag.index].name, options[flag.index].name,
					options[flag.index].metavar);
		if (!flag.value)
			flag.value = argv[++i];
		r = option_set_from(flag.index, config, ORIGIN_FLAG, flag.value, &why);
		if (r < 0)
			return diag_set(diag, r, "--%s: %s", options[flag.index].name, why.text);
	}
	return 0;
}
