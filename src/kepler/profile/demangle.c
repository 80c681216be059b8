// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/ascii.h"

/* __cxa_demangle() of the Itanium C++ ABI. */
typedef char *demangle_fn(const char *name, char *buffer, size_t *size, int *status);

static demangle_fn *find_function(void)
{
	static demangle_fn *found;
	static bool is_known;

	if (!is_known) {
		void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		void *address = library ? dlsym(library, "__cxa_demangle") : NULL;

		memcpy(&found, &address, sizeof(found));
		is_known = true;
	}
	return found;
}

/* Rust's "::h0123456789abcdef" at the end says nothing to a reader. */
static void cut_rust_hash(char *name)
{
	size_t len = strlen(name);

	if (len < 20 || memcmp(name + len - 19, "::h", 3) != 0)
		return;
	for (size_t i = len - 16; i < len; i++) {
		if (ascii_hex_value(name[i]) < 0)
			return;
	}
	name[len - 19] = '\0';
}

void demangle(const char *name, char *ret, size_t size)
{
	demangle_fn *function = strncmp(name, "_Z", 2) == 0 ? find_function() : NULL;
	int status = -1;
	char *text = function ? function(name, NULL, NULL, &status) : NULL;

	if (status == 0 && text)
		cut_rust_hash(text);
	(void)snprintf(ret, size, "%s", status == 0 && text ? text : name);
	free(text);
}
