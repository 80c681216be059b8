// SPDX-License-Identifier: Apache-2.0
#include "net/server/crypt_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/macro.h"

/* Debian and most others; Fedora. */
static const char *const names[] = { "libcrypt.so.1", "libcrypt.so.2" };

static struct {
	pthread_mutex_t lock;
	struct crypt_library functions;
	const struct crypt_library *loaded; /* atomic */
} library = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The older libcrypt of the C library has the same name, but neither this function nor bcrypt. */
static int load(struct diag *diag)
{
	void *handle = NULL, *function;

	for (size_t i = 0; !handle && i < ARRAY_SIZE(names); i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return diag_set(diag, -ENOENT,
				"%s is not installed; users with passwords need it (Debian: apt "
				"install libcrypt1)",
				names[0]);
	function = dlsym(handle, "crypt_rn");
	if (!function) {
		(void)dlclose(handle);
		return diag_set(diag, -ENOSYS, "%s is not libxcrypt: it has no bcrypt", names[0]);
	}
	memcpy(&library.functions.crypt_rn, &function, sizeof(function));
	__atomic_store_n(&library.loaded, &library.functions, __ATOMIC_RELEASE);
	return 0;
}

int crypt_library_load(struct diag *diag)
{
	int r;

	(void)pthread_mutex_lock(&library.lock);
	r = library.loaded ? 0 : load(diag);
	(void)pthread_mutex_unlock(&library.lock);
	return r;
}

const struct crypt_library *crypt_library_get(void)
{
	return __atomic_load_n(&library.loaded, __ATOMIC_ACQUIRE);
}
