// SPDX-License-Identifier: Apache-2.0
/*
 * The command line: --a.b=c, --a.b c, --x and --no-x for switches, --x for an option with a bare
 * value, -- ends. Anything else is an error: a program that runs for months should not start with
 * half of the intended options. All errors are reported; a word after an unknown flag may be its
 * value, and is passed over.
 *
 * The environment: KEPLER_WEB_LISTEN_ADDRESS and so on. An unknown variable is a warning, not an
 * error: a cluster puts variables of its own into every container, among them KEPLER_SERVICE_HOST
 * and KEPLER_PORT_… for a service named kepler, which are ignored silently.
 */
#include "options/read_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "options/spelling.h"

#define VARIABLE_MAX 80
#define WARNINGS_MAX 2048 /* bytes; an environment can be hostile */
#define FLAG_MAX     64

struct flag {
	size_t index;
	bool negated;
	const char *value; /* after "=", or NULL */
};

/*
 * The flag that is most like @word. Only a switch can be turned off, and only if @word is nearly
 * its whole name: a guess from a part of a name would turn off something else.
 */
static bool find_near_flag(const struct option_set *set, const char *word, bool *negates, char *buf,
			   size_t size)
{
	bool is_switch;

	if (!option_nearest(set, word, false, buf, size))
		return false;
	is_switch = option_at(set, option_find(set, buf))->type == OPTION_BOOL;
	if (*negates && is_switch)
		return spelling_distance(word, buf) <= spelling_tolerance(word);
	*negates = false;
	return true;
}

static int unknown_flag(const struct option_set *set, const char *name, struct diag *diag)
{
	bool negates = strncmp(name, "no-", 3) == 0;
	char shown[96], near[FLAG_MAX];

	(void)option_printable(shown, sizeof(shown), name);
	if (find_near_flag(set, negates ? name + 3 : name, &negates, near, sizeof(near)))
		return diag_add(diag, -EINVAL, "--%s: unknown flag; did you mean --%s%s?", shown,
				negates ? "no-" : "", near);
	return diag_add(diag, -EINVAL, "--%s: unknown flag; see --help", shown);
}

/* Splits "--name=value"; @arg begins with "--". */
static int parse_flag(const struct option_set *set, const char *arg, struct flag *ret,
		      struct diag *diag)
{
	const char *equals = strchr(arg, '=');
	size_t len = strcspn(arg + 2, "=");
	char name[256];
	size_t index;
	bool negated = false;

	len = len < sizeof(name) ? len : sizeof(name) - 1;
	memcpy(name, arg + 2, len);
	name[len] = '\0';
	index = option_find(set, name);
	if (index == OPTION_NONE && strncmp(name, "no-", 3) == 0) {
		index = option_find(set, name + 3);
		negated = index != OPTION_NONE && option_at(set, index)->type == OPTION_BOOL;
		if (!negated)
			index = OPTION_NONE;
	}
	if (index == OPTION_NONE)
		return unknown_flag(set, name, diag);
	if (negated && equals)
		return diag_add(diag, -EINVAL, "--%s: takes no value", name);
	*ret = (struct flag){ index, negated, equals ? equals + 1 : NULL };
	return 0;
}

static int unexpected_argument(const char *arg, struct diag *diag)
{
	char shown[96];

	if (arg[0] == '-' && arg[1] && arg[1] != '-')
		return diag_add(diag, -EINVAL, "%s: unknown flag; see --help",
				option_printable(shown, sizeof(shown), arg));
	return diag_add(diag, -EINVAL, "unexpected argument \"%s\"; flags begin with --",
			option_printable(shown, sizeof(shown), arg));
}

static bool is_flag(const char *arg)
{
	return strncmp(arg, "--", 2) == 0;
}

/* Takes the value of @flag, which @next may be; *ret_took_next: it is. */
static int take_flag(const struct option_set *set, struct option_values *values,
		     const struct flag *flag, const char *next, bool *ret_took_next,
		     struct diag *diag)
{
	const struct option *option = option_at(set, flag->index);
	const char *value = flag->value;
	struct diag why = { 0 };
	int r;

	if (!value && option->type == OPTION_BOOL)
		value = flag->negated ? "false" : "true";
	if (!value)
		value = option->bare;
	*ret_took_next = !value;
	if (!value)
		value = next;
	if (!value)
		return diag_add(diag, -EINVAL, "--%s: needs a value: --%s=%s", option->name,
				option->name, option->metavar);
	r = option_take(set, flag->index, values, ORIGIN_FLAG, value, &why);
	return r < 0 ? diag_add(diag, r, "--%s: %s", option->name, why.text) : 0;
}

int options_read_flags(const struct option_set *set, struct option_values *values, int argc,
		       char *const *argv, struct diag *diag)
{
	int result = 0;

	for (int i = 0; i < argc && argv[i] && result != -ENOMEM; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : NULL;
		struct flag flag = { 0 };
		bool took_next = false;
		int r;

		if (strcmp(argv[i], "--") == 0)
			return next ? unexpected_argument(next, diag) : result;
		if (!is_flag(argv[i])) {
			result = unexpected_argument(argv[i], diag);
			continue;
		}
		r = parse_flag(set, argv[i], &flag, diag);
		if (r == 0)
			r = take_flag(set, values, &flag, next, &took_next, diag);
		else
			took_next = !strchr(argv[i], '=') && next && !is_flag(next);
		if (r < 0)
			result = r;
		i += took_next;
	}
	return result;
}

/*
 * A variable that the cluster sets for a service with the program's name, or that another reader
 * uses.
 */
static bool is_foreign(const struct option_set *set, const char *name)
{
	const char *rest = name + strlen(set->program->prefix);

	for (const char *const *other = set->program->other_variables; other && *other; other++) {
		if (strcmp(name, *other) == 0)
			return true;
	}
	return strncmp(rest, "SERVICE_", 8) == 0 || strcmp(rest, "PORT") == 0 ||
	       strncmp(rest, "PORT_", 5) == 0;
}

static size_t find_variable(const struct option_set *set, const char *name)
{
	size_t count = option_count(set);

	for (size_t i = 0; i < count; i++) {
		char variable[VARIABLE_MAX];

		if (option_at(set, i)->only_flag)
			continue;
		option_environment_name(set, option_at(set, i), variable, sizeof(variable));
		if (strcmp(variable, name) == 0)
			return i;
	}
	return OPTION_NONE;
}

/* The variable of an option that is most like @name; false: none is near. */
static bool find_nearest_variable(const struct option_set *set, const char *name, char *buf,
				  size_t size)
{
	size_t count = option_count(set), prefix = strlen(set->program->prefix);
	struct spelling_nearest best = spelling_begin(name + prefix);

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);
		char variable[VARIABLE_MAX];

		if (option->only_flag)
			continue;
		option_environment_name(set, option, variable, sizeof(variable));
		spelling_consider_as(&best, variable + prefix, option->name);
	}
	if (best.name)
		option_environment_name(set, option_at(set, option_find(set, best.name)), buf,
					size);
	return best.name;
}

static int warn_unknown(const struct option_set *set, struct option_values *values,
			const char *name)
{
	char shown[VARIABLE_MAX], near[VARIABLE_MAX];
	bool has_near;
	size_t len = values->warnings ? strlen(values->warnings) : 0;
	char *more;

	if (len > WARNINGS_MAX)
		return 0;
	has_near = find_nearest_variable(set, name, near, sizeof(near));
	if (asprintf(&more, "%s%s%s: unknown environment variable, ignored%s%s%s",
		     len ? values->warnings : "", len ? "\n" : "",
		     option_printable(shown, sizeof(shown), name),
		     has_near ? "; did you mean " : "", has_near ? near : "",
		     has_near ? "?" : "") < 0)
		return -ENOMEM;
	free(values->warnings);
	values->warnings = more;
	return 0;
}

static int read_variable(const struct option_set *set, struct option_values *values,
			 const char *name, const char *value, struct diag *diag)
{
	struct diag why = { 0 };
	size_t index = find_variable(set, name);
	int r;

	if (index == OPTION_NONE)
		return is_foreign(set, name) ? 0 : warn_unknown(set, values, name);
	r = option_take_all(set, index, values, ORIGIN_ENVIRONMENT, value, &why);
	return r < 0 ? diag_add(diag, r, "%s: %s", name, why.text) : 0;
}

int options_read_environment(const struct option_set *set, struct option_values *values,
			     char *const *environ_, struct diag *diag)
{
	size_t prefix = strlen(set->program->prefix);
	int result = 0;

	for (; environ_ && *environ_ && result != -ENOMEM; environ_++) {
		const char *equals = strchr(*environ_, '=');
		CLEANUP_FREE char *name = NULL;
		int r;

		if (!equals || strncmp(*environ_, set->program->prefix, prefix) != 0)
			continue;
		name = strndup(*environ_, (size_t)(equals - *environ_));
		r = name ? read_variable(set, values, name, equals + 1, diag) : -ENOMEM;
		if (r < 0)
			result = r;
	}
	return result;
}
