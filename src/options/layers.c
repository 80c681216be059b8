// SPDX-License-Identifier: Apache-2.0
/*
 * Layers: defaults, then the file, the environment and the flags, each overriding the one before;
 * then rules that concern several options are checked. The file's name may itself come from a flag
 * or the environment, so those two are read twice: once into scratch values, for the name (and to
 * report their errors first), and once in order.
 */
#include "options/layers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "options/read_text.h"
#include "options/read_yaml.h"

/* The errors of this load, not of the last one. */
static void forget(struct diag *diag)
{
	if (!diag)
		return;
	diag->text[0] = '\0';
	diag->others = 0;
}

static int set_defaults(const struct option_set *set, struct option_values *values,
			struct diag *diag)
{
	size_t count = option_count(set);

	values->origins = calloc(count, sizeof(*values->origins));
	values->warnings = strdup("");
	if (!values->origins || !values->warnings)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		int r = option_take_all(set, i, values, ORIGIN_DEFAULT,
					option_at(set, i)->default_text, diag);

		if (r < 0)
			return r;
	}
	return 0;
}

void options_release(const struct option_set *set, struct option_values *values)
{
	size_t count = option_count(set);

	for (size_t i = 0; i < count; i++)
		option_release(option_at(set, i), option_part(set, i, values));
	free(values->origins);
	free(values->warnings);
	memset(values, 0, set->size);
}

static int read_text(const struct option_set *set, struct option_values *values, const char *name,
		     const char *text, size_t len, struct diag *diag)
{
	if (len > OPTIONS_FILE_MAX)
		return diag_set(diag, -EFBIG, "%s: larger than 1 MiB", name);
	return options_read_yaml(set, values, name, text, len, diag);
}

static int read_file(const struct option_set *set, struct option_values *values, const char *path,
		     bool optional, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;
	int r = read_file_alloc(path, OPTIONS_FILE_MAX, &text, &len);

	if (r == -ENOENT && optional)
		return 0;
	if (r == -EFBIG)
		return diag_set(diag, r, "%s: larger than 1 MiB", path);
	if (r == -ENOTSUP)
		return diag_set(diag, r, "%s: a pipe, not a file", path);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	free(values->file);
	values->file = strdup(path);
	if (!values->file)
		return diag_set(diag, -ENOMEM, "out of memory");
	return read_text(set, values, path, text, len, diag);
}

static int read_command_line(const struct option_set *set, struct option_values *values,
			     const struct option_args *args, struct diag *diag)
{
	int r = options_read_environment(set, values, args->environ_, diag);
	int flags = options_read_flags(set, values, args->argc, args->argv, diag);

	return r < 0 ? r : flags;
}

/* Which file do @args name? "" in *ret_path: none. *ret_optional: it need not exist. */
static int find_file(const struct option_set *set, struct option_values *scratch,
		     const struct option_args *args, const char **ret_path, bool *ret_optional,
		     struct diag *diag)
{
	int r = set_defaults(set, scratch, diag);

	if (r == 0)
		r = read_command_line(set, scratch, args, diag);
	if (r < 0)
		return r;
	*ret_path = scratch->file;
	*ret_optional = scratch->origins[option_find(set, "config.file")] == ORIGIN_DEFAULT;
	if (*ret_optional)
		*ret_path = args->default_file ? args->default_file : set->program->default_file;
	return 0;
}

static int load(const struct option_set *set, const struct option_args *args,
		struct option_values *scratch, struct option_values *values, struct diag *diag)
{
	const char *path = "";
	bool optional = false;
	int r = find_file(set, scratch, args, &path, &optional, diag);

	if (r == 0)
		r = set_defaults(set, values, diag);
	if (r == 0 && path[0])
		r = read_file(set, values, path, optional, diag);
	if (r == 0)
		r = read_command_line(set, values, args, diag);
	if (r == 0 && set->check)
		r = set->check(values, diag);
	return r;
}

/*
 * Ends a load with the result @r: moves the members of @values to *ret, or frees them. Returns @r.
 */
static int finish(const struct option_set *set, int r, struct option_values *values,
		  struct option_values *ret)
{
	if (r < 0) {
		options_release(set, values);
		return r;
	}
	*ret = *values;
	memcpy(ret + 1, values + 1, set->size - sizeof(*ret));
	return 0;
}

int options_load(const struct option_set *set, const struct option_args *args,
		 struct option_values *ret, struct diag *diag)
{
	CLEANUP_FREE struct option_values *scratch = calloc(1, set->size);
	CLEANUP_FREE struct option_values *values = calloc(1, set->size);
	struct diag unused = { 0 };
	int r;

	forget(diag);
	if (!scratch || !values)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = load(set, args, scratch, values, diag ? diag : &unused);
	options_release(set, scratch);
	return finish(set, r, values, ret);
}

int options_load_or_print(const struct option_set *set, const struct option_args *args,
			  struct option_values *ret, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct diag diag = { .more = &more };
	int r = options_load(set, args, ret, &diag);

	if (r < 0)
		diag_print(&diag, set->program->name, err);
	return r;
}

/* Checks the rules that concern several values of the file @name. */
static int check_file(const struct option_set *set, const struct option_values *values,
		      const char *name, struct diag *diag)
{
	struct diag why = { 0 };
	int r = set->check ? set->check(values, &why) : 0;

	return r < 0 ? diag_set(diag, r, "%s: %s", name, why.text) : 0;
}

int options_load_text(const struct option_set *set, const char *name, const char *text, size_t len,
		      struct option_values *ret, struct diag *diag)
{
	CLEANUP_FREE struct option_values *values = calloc(1, set->size);
	int r;

	forget(diag);
	if (!values)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = set_defaults(set, values, diag);
	if (r == 0)
		r = read_text(set, values, name, text, len, diag);
	if (r == 0)
		r = check_file(set, values, name, diag);
	return finish(set, r, values, ret);
}

int options_load_file(const struct option_set *set, const char *path, struct option_values *ret,
		      struct diag *diag)
{
	CLEANUP_FREE struct option_values *values = calloc(1, set->size);
	int r;

	forget(diag);
	if (!values)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = set_defaults(set, values, diag);
	if (r == 0)
		r = read_file(set, values, path, false, diag);
	if (r == 0)
		r = check_file(set, values, path, diag);
	return finish(set, r, values, ret);
}

static int copy_value(const struct option *option, const void *from, void *to)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	size_t count = option_is_list(option) ? option_list_count(option, from) : 1;
	int r = 0;

	for (size_t item = 0; item < count && r == 0; item++) {
		strbuf_reset(&text);
		option_format(option, from, item, &text);
		r = strbuf_error(&text);
		if (r == 0)
			r = option_parse(option, to, text.data ? text.data : "", NULL);
	}
	return r;
}

int options_copy(const struct option_set *set, const struct option_values *values,
		 struct option_values *ret)
{
	CLEANUP_FREE struct option_values *copy = calloc(1, set->size);
	size_t count = option_count(set);
	int r = 0;

	if (!copy)
		return -ENOMEM;
	copy->origins = calloc(count, sizeof(*copy->origins));
	copy->warnings = strdup(values->warnings);
	if (!copy->origins || !copy->warnings)
		r = -ENOMEM;
	else
		memcpy(copy->origins, values->origins, count * sizeof(*copy->origins));
	for (size_t i = 0; i < count && r == 0; i++)
		r = copy_value(option_at(set, i), option_part_of(set, i, values),
			       option_part(set, i, copy));
	return finish(set, r, copy, ret);
}

static bool may_change(const struct option *option)
{
	return option->reloadable || option_is_outside_file(option);
}

void options_unreloadable_changes(const struct option_set *set, const struct option_values *old,
				  const struct option_values *fresh, char *buf, size_t size)
{
	size_t count = option_count(set), len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *name = option_at(set, i)->name;
		size_t need = strlen(name) + (len ? 2 : 0);

		if (may_change(option_at(set, i)) || option_is_same(set, i, old, fresh))
			continue;
		if (len + need >= size)
			return;
		memcpy(buf + len, len ? ", " : "", len ? 2 : 0);
		memcpy(buf + len + need - strlen(name), name, strlen(name) + 1);
		len += need;
	}
}

void options_keep_unreloadable(const struct option_set *set, struct option_values *old,
			       struct option_values *fresh)
{
	size_t count = option_count(set);

	for (size_t i = 0; i < count; i++) {
		enum option_origin origin = fresh->origins[i];

		if (may_change(option_at(set, i)))
			continue;
		option_swap(option_at(set, i), option_part(set, i, old),
			    option_part(set, i, fresh));
		fresh->origins[i] = old->origins[i];
		old->origins[i] = origin;
	}
}
