/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All options of a program, as sections: each is a table of rows over the struct of one part of the
 * program, which lies somewhere in the program's own. Rows have their names in full, so that a
 * search for "web.listen-address" finds the row.
 *
 * Rows with a common prefix are adjacent, across all sections, so that the YAML that is made from
 * them nests without repeating a key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "options/option.h"

enum option_origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

/*
 * The origin of the values. It is the first member of the program's struct, and through it the
 * functions here refer to that struct. All zero after a release.
 */
struct option_values {
	/* The value of config.file: the file that was read, the default one, "" none. */
	char *file;
	enum option_origin *origins; /* one an option, in the set's order; NULL: all default */
	char *warnings;              /* ignored settings and why, a line each, no final newline */
};

struct option_section {
	const struct option *options;
	size_t count;
	size_t offset; /* of the part's struct in the program's */
	/*
	 * NULL, or instead of rows: the sections of a table elsewhere, whose offsets are relative
	 * to this one; NULL after the last.
	 */
	const struct option_section *(*more)(size_t index);
};

struct option_program {
	const char *name;   /* "kepler" */
	const char *prefix; /* of environment variables, "KEPLER_" */
	/* Variables with that prefix that are not options: NULL ends the list. */
	const char *const *other_variables;
	const char *default_file; /* read if it exists and config.file names none */
	/* Keys at the top of other programs' files, NULL ends the list, and what to do then. */
	const char *const *foreign_keys;
	const char *foreign_advice;
	const char *reference_head; /* Markdown before the sections of the reference */
};

/* The options of a program, or of one of its commands; config.file is one of them. */
struct option_set {
	const struct option_program *program;
	/*
	 * Options that a command has in addition to its own: they come first, and the command's
	 * struct begins with the struct that holds them. NULL: none.
	 */
	const struct option_set *base;
	const struct option_section *sections;
	size_t section_count;
	size_t size; /* bytes of the struct, which begins with struct option_values */
	/* Checks rules that concern several options: 0, or -EINVAL with a diagnosis; or NULL. */
	int (*check)(const struct option_values *values, struct diag *diag);
};

#define OPTION_NO_SECTION "general"
#define OPTION_NONE       SIZE_MAX

size_t option_count(const struct option_set *set);
/* @index counts over all sections, below option_count(). */
const struct option *option_at(const struct option_set *set, size_t index);
/* The struct that the option's offset is in. */
void *option_part(const struct option_set *set, size_t index, struct option_values *values);
const void *option_part_of(const struct option_set *set, size_t index,
			   const struct option_values *values);
/* Do two structs of the program have the same value of the option? */
bool option_is_same(const struct option_set *set, size_t index, const struct option_values *a,
		    const struct option_values *b);

/* Index of the option @name, or OPTION_NONE. */
size_t option_find(const struct option_set *set, const char *name);
/* As option_find, for a YAML path: aliases and camelCase forms of the name count too. */
size_t option_find_key(const struct option_set *set, const char *path);
/* Does any option's name begin with "@path."? */
bool option_is_section(const struct option_set *set, const char *path);
/*
 * The @index-th section of the set's own options, which is the beginning of their names up to a
 * dot, or OPTION_NO_SECTION of those without one; false: there are fewer.
 */
bool option_section_at(const struct option_set *set, size_t index, char ret[OPTION_NAME_MAX]);
/* Is @option in @section, as option_section_at() names it? */
bool option_is_in_section(const struct option *option, const char *section);
/*
 * The known name most like @text (options, and their beginnings when @with_sections) in @buf, or
 * NULL when none is near.
 */
const char *option_nearest(const struct option_set *set, const char *text, bool with_sections,
			   char *buf, size_t size);
/* "web.listen-address" → "KEPLER_WEB_LISTEN_ADDRESS". */
void option_environment_name(const struct option_set *set, const struct option *option, char *buf,
			     size_t size);

/*
 * Sets an option in layer @origin: the first item of a list in a layer replaces what lower layers
 * had. Fails as option_parse() does. @values has origins.
 */
int option_take(const struct option_set *set, size_t index, struct option_values *values,
		enum option_origin origin, const char *text, struct diag *diag);
/* As option_take, for the comma-separated items of @text when the option is a list. */
int option_take_all(const struct option_set *set, size_t index, struct option_values *values,
		    enum option_origin origin, const char *text, struct diag *diag);
