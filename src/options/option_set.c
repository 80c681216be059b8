// SPDX-License-Identifier: Apache-2.0
/* The sections as one table: finding rows, forming their names, setting values. */
#include "options/option_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "options/spelling.h"

static size_t section_count(const struct option_section *section)
{
	const struct option_section *part;
	size_t count = section->count;

	for (size_t i = 0; section->more && (part = section->more(i)); i++)
		count += part->count;
	return count;
}

static size_t own_count(const struct option_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < set->section_count; i++)
		count += section_count(&set->sections[i]);
	return count;
}

size_t option_count(const struct option_set *set)
{
	size_t count = 0;

	for (; set; set = set->base)
		count += own_count(set);
	return count;
}

struct row {
	const struct option *option;
	size_t offset; /* of its part */
};

static struct row row_of(const struct option_section *section, size_t index)
{
	const struct option_section *part = section;
	size_t offset = 0;

	for (size_t i = 0; section->more; i++) {
		part = section->more(i);
		if (index < part->count) {
			offset = section->offset;
			break;
		}
		index -= part->count;
	}
	return (struct row){ &part->options[index], offset + part->offset };
}

static struct row row_at(const struct option_set *set, size_t index)
{
	const struct option_section *section;
	size_t count;

	while ((count = option_count(set->base)) > index)
		set = set->base;
	index -= count;
	for (section = set->sections; index >= (count = section_count(section)); section++)
		index -= count;
	return row_of(section, index);
}

const struct option *option_at(const struct option_set *set, size_t index)
{
	return row_at(set, index).option;
}

void *option_part(const struct option_set *set, size_t index, struct option_values *values)
{
	return (char *)values + row_at(set, index).offset;
}

const void *option_part_of(const struct option_set *set, size_t index,
			   const struct option_values *values)
{
	return (const char *)values + row_at(set, index).offset;
}

bool option_is_same(const struct option_set *set, size_t index, const struct option_values *a,
		    const struct option_values *b)
{
	return option_equal(option_at(set, index), option_part_of(set, index, a),
			    option_part_of(set, index, b));
}

size_t option_find(const struct option_set *set, const char *name)
{
	size_t count = option_count(set);

	for (size_t i = 0; i < count; i++) {
		const struct option *option = option_at(set, i);

		if (strcmp(option->name, name) == 0 ||
		    (option->also && strcmp(option->also, name) == 0))
			return i;
	}
	return OPTION_NONE;
}

/* "metrics.process.minJoules" → "metrics.process.min-joules"; false when it does not fit a name. */
static bool kebab_case(char *buf, size_t size, const char *path)
{
	size_t n = 0;

	for (; *path; path++) {
		bool capital = *path >= 'A' && *path <= 'Z';

		if (n + 2 >= size)
			return false;
		if (capital)
			buf[n++] = '-';
		buf[n++] = capital ? (char)(*path - 'A' + 'a') : *path;
	}
	buf[n] = '\0';
	return true;
}

size_t option_find_key(const struct option_set *set, const char *path)
{
	size_t count = option_count(set);
	char kebab[OPTION_NAME_MAX];

	for (size_t i = 0; i < count; i++) {
		if (option_at(set, i)->alias && strcmp(option_at(set, i)->alias, path) == 0)
			return i;
	}
	return kebab_case(kebab, sizeof(kebab), path) ? option_find(set, kebab) : OPTION_NONE;
}

bool option_is_section(const struct option_set *set, const char *path)
{
	size_t len = strlen(path), count = option_count(set);

	for (size_t i = 0; i < count; i++) {
		if (strncmp(option_at(set, i)->name, path, len) == 0 &&
		    option_at(set, i)->name[len] == '.')
			return len > 0;
	}
	return false;
}

bool option_is_in_section(const struct option *option, const char *section)
{
	size_t len = strcspn(option->name, ".");

	if (!option->name[len])
		return strcmp(section, OPTION_NO_SECTION) == 0;
	return strlen(section) == len && strncmp(option->name, section, len) == 0;
}

/* Does an option before @index of those from @first on have the same section? */
static bool is_repeated(const struct option_set *set, size_t first, size_t index,
			const char *section)
{
	for (size_t i = first; i < index; i++) {
		if (option_is_in_section(option_at(set, i), section))
			return true;
	}
	return false;
}

bool option_section_at(const struct option_set *set, size_t index, char ret[OPTION_NAME_MAX])
{
	size_t count = option_count(set), first = option_count(set->base);

	for (size_t i = first; i < count; i++) {
		const char *name = option_at(set, i)->name;
		size_t len = strcspn(name, ".");

		if (name[len])
			(void)snprintf(ret, OPTION_NAME_MAX, "%.*s", (int)len, name);
		else
			(void)snprintf(ret, OPTION_NAME_MAX, "%s", OPTION_NO_SECTION);
		if (!is_repeated(set, first, i, ret) && index-- == 0)
			return true;
	}
	return false;
}

/*
 * People remember a part of a name: "--interval", "--web.listen". A part that is spelled right, or
 * nearly, is further away than a whole name that is, as several names may have it.
 */
static void consider_parts(struct spelling_nearest *best, const struct option *option)
{
	const char *last = strrchr(option->name, '.');
	size_t len = strlen(best->text);

	if (last)
		spelling_consider_as(best, last + 1, option->name);
	if (option->known_as)
		spelling_consider_as(best, option->known_as, option->name);
	if (len > 2 && (strncmp(option->name, best->text, len) == 0 ||
			(last && strncmp(last + 1, best->text, len) == 0)))
		spelling_consider_as(best, best->text, option->name);
}

const char *option_nearest(const struct option_set *set, const char *text, bool with_sections,
			   char *buf, size_t size)
{
	struct spelling_nearest best = spelling_begin(text);

	for (size_t i = 0; i < option_count(set); i++) {
		const char *name = option_at(set, i)->name;
		const char *dot = with_sections ? strchr(name, '.') : NULL;

		for (; dot; dot = strchr(dot + 1, '.'))
			spelling_consider(&best, name, (size_t)(dot - name));
		spelling_consider(&best, name, SIZE_MAX);
	}
	for (size_t i = 0; !best.name && i < option_count(set); i++)
		consider_parts(&best, option_at(set, i));
	if (!best.name)
		return NULL;
	(void)snprintf(buf, size, "%.*s", (int)best.len, best.name);
	return buf;
}

void option_environment_name(const struct option_set *set, const struct option *option, char *buf,
			     size_t size)
{
	(void)snprintf(buf, size, "%s%s", set->program->prefix, option->name);
	for (char *c = buf; *c; c++) {
		if (*c == '.' || *c == '-')
			*c = '_';
		else if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
}

int option_take(const struct option_set *set, size_t index, struct option_values *values,
		enum option_origin origin, const char *text, struct diag *diag)
{
	const struct option *option = option_at(set, index);
	void *part = option_part(set, index, values);

	if (values->origins[index] != origin)
		option_clear(option, part);
	values->origins[index] = origin;
	return option_parse(option, part, text, diag);
}

int option_take_all(const struct option_set *set, size_t index, struct option_values *values,
		    enum option_origin origin, const char *text, struct diag *diag)
{
	const struct option *option = option_at(set, index);
	void *part = option_part(set, index, values);
	CLEANUP_FREE char *copy = NULL;
	int r = 0;

	if (!option_is_list(option))
		return option_take(set, index, values, origin, text, diag);
	option_clear(option, part);
	values->origins[index] = origin;
	copy = strdup(text);
	if (!copy)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (char *rest = copy, *item; r == 0 && *copy && (item = strsep(&rest, ","));)
		r = option_parse(option, part, item, diag);
	return r;
}
