/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's options from all their sources. Precedence: flag > environment > file > default; a
 * list is replaced as a whole. The YAML key is the flag's path (web.listen-address → web:
 * {listen-address: …}); the environment variable is the prefix and the flag in capitals with _ for
 * . and -. Without config.file the set's default file is read if it exists.
 */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "options/option_set.h"

#define OPTIONS_FILE_MAX (1024 * 1024) /* bytes of a configuration file */

/* The settings of a command: flags from argv, then environment, file and defaults. */
struct option_args {
	int argc; /* arguments after the command's name */
	char *const *argv;
	char *const *environ_;    /* "NAME=VALUE" strings, NULL-terminated; NULL: none */
	const char *default_file; /* NULL: the set's; "": none */
};

/*
 * 0, or -EINVAL/-ENOENT/… with a diagnosis (file:line:column, key, allowed values, nearest known
 * key): all problems of the flags and the environment, else all of the file, see diag_add(). @diag
 * is initialised. @ret begins a struct of the set's size and is set only on success;
 * options_release() then frees its contents.
 */
int options_load(const struct option_set *set, const struct option_args *args,
		 struct option_values *ret, struct diag *diag);
/* As options_load(); prints what is wrong to @err. */
int options_load_or_print(const struct option_set *set, const struct option_args *args,
			  struct option_values *ret, FILE *err);
/* Reads nothing but @path over the defaults. */
int options_load_file(const struct option_set *set, const char *path, struct option_values *ret,
		      struct diag *diag);
/* As options_load_file, from memory; @name stands for the file in messages. */
int options_load_text(const struct option_set *set, const char *name, const char *text, size_t len,
		      struct option_values *ret, struct diag *diag);
/* 0 or -ENOMEM. @ret shares no memory with @values, and is released by options_release(). */
int options_copy(const struct option_set *set, const struct option_values *values,
		 struct option_values *ret);
/* Does nothing to values that are all zero. */
void options_release(const struct option_set *set, struct option_values *values);

/*
 * Which options differ and cannot change while running ("web.listen-address, host.sysfs"); ""
 * when none. Always terminated; cut at whole names when @size is short.
 */
void options_unreloadable_changes(const struct option_set *set, const struct option_values *old,
				  const struct option_values *fresh, char *buf, size_t size);
/*
 * Exchanges between @fresh and @old the values of all options that cannot change while running, so
 * that a reload changes only the others. @old is to be released afterwards.
 */
void options_keep_unreloadable(const struct option_set *set, struct option_values *old,
			       struct option_values *fresh);
