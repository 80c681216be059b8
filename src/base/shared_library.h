/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a library that is loaded only where it is needed (dlopen), by their names. */
#pragma once

#include <stddef.h>

struct shared_function {
	const char *name;
	size_t offset; /* of the pointer to it, in a structure */
};

/*
 * Sets the pointers in the structure @ret. NULL; or the name of the first function that @library
 * lacks: that pointer, and those after it in the table, are not set.
 */
const char *shared_library_find(void *library, const struct shared_function *functions,
				size_t count, void *ret);
