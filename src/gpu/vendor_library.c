// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"

static bool has_function(const char *place)
{
	void *function;

	memcpy(&function, place, sizeof(function));
	return function != NULL;
}

static void *load(const char *name, const char *folder)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	char path[PATH_MAX];

	if (!handle && folder && !strchr(name, '/') &&
	    path_join(path, sizeof(path), folder, name) == 0)
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle;
}

int vendor_library_load(const char *name, const char *folder,
			const struct vendor_function *functions, size_t count, void *ret,
			struct diag *diag)
{
	void *handle = load(name, folder);

	if (!handle)
		return diag_set(diag, -ENOENT, "%s cannot be loaded: %s", name, dlerror());
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(handle, functions[i].name);
		char *place = (char *)ret + functions[i].offset;

		if (!function && functions[i].is_needed)
			return diag_set(diag, -ENOSYS, "%s is too old: it lacks %s", name,
					functions[i].name);
		if (!has_function(place))
			memcpy(place, &function, sizeof(function));
	}
	return 0;
}

int vendor_error(int result)
{
	switch (result) {
	case VENDOR_OK:
		return 0;
	case VENDOR_NOT_SUPPORTED:
	case VENDOR_FUNCTION_NOT_FOUND:
		return -EOPNOTSUPP;
	case VENDOR_NO_PERMISSION:
		return -EACCES;
	case VENDOR_NOT_FOUND:
		return -ENOENT;
	case VENDOR_DRIVER_NOT_LOADED:
	case VENDOR_DEVICE_IS_LOST:
		return -ENODEV;
	case VENDOR_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}
