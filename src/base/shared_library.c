// SPDX-License-Identifier: Apache-2.0
#include "base/shared_library.h"

#include <dlfcn.h>
#include <string.h>

const char *shared_library_find(void *library, const struct shared_function *functions,
				size_t count, void *ret)
{
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, functions[i].name);

		if (!function)
			return functions[i].name;
		memcpy((char *)ret + functions[i].offset, (const void *)&function,
		       sizeof(function));
	}
	return NULL;
}
