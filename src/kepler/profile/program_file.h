/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program or library, for the names of its functions: its symbol table, or the table of the file
 * with its debugging information (/usr/lib/debug/.build-id), else the functions that it exports.
 * The content is untrusted. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program_file;

#define PROGRAM_NAME_MAX     512
#define PROGRAM_BUILD_ID_MAX 129 /* in hexadecimal, with its end */

/*
 * Reads the symbols of the file, and takes @fd over. 0 or -errno: -ENOEXEC if it is not a program
 * of this kind of machine.
 */
int program_file_open(int fd, struct program_file **ret);
void program_file_close(struct program_file *file); /* NULL is fine */
/* Hexadecimal; NULL: it has none. Valid as long as the file is open. */
const char *program_file_build_id(const struct program_file *file);
/* The file with its debugging information, where that is a file of its own; -1: there is none. */
int program_file_open_debug(const struct program_file *file);
/* The address that the file itself gives to what is at @offset. False: it is not mapped. */
bool program_file_address(const struct program_file *file, uint64_t offset, uint64_t *ret);
/* The function at @offset of the file, demangled, in @ret. -ENOENT: it is not known. */
int program_file_find(struct program_file *file, uint64_t offset,
		      char ret[static PROGRAM_NAME_MAX]);
