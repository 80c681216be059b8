// SPDX-License-Identifier: Apache-2.0
#include "training/lapack_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "liblapacke.so.3"

static struct {
	pthread_once_t once;
	struct lapack_library functions;
	int error;
	const char *missing; /* a function */
} library = { .once = PTHREAD_ONCE_INIT };

static void find(void *handle, const char *name, void *ret, size_t size)
{
	void *function = dlsym(handle, name);

	if (!function) {
		library.error = -ENOSYS;
		library.missing = name;
	}
	memcpy(ret, &function, size);
}

/*
 * Trainings that run side by side take all processors (training/parallel.h): OpenBLAS, if it
 * implements LAPACK, would start as many threads again for matrices of ten columns.
 */
static void keep_to_one_thread(void *handle)
{
	static const char name[] = "openblas_set_num_threads";
	void (*set)(int) = NULL;
	void *function = dlsym(handle, name);

	if (!function)
		return;
	memcpy(&set, &function, sizeof(set));
	set(1);
}

static void load(void)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	struct lapack_library *functions = &library.functions;

	if (!handle) {
		library.error = -ENOENT;
		return;
	}
	keep_to_one_thread(handle);
	find(handle, "LAPACKE_dgelsd", &functions->dgelsd, sizeof(functions->dgelsd));
	find(handle, "LAPACKE_dposv", &functions->dposv, sizeof(functions->dposv));
	find(handle, "LAPACKE_dgesdd", &functions->dgesdd, sizeof(functions->dgesdd));
	find(handle, "LAPACKE_dgeqrf", &functions->dgeqrf, sizeof(functions->dgeqrf));
}

int lapack_library_get(const struct lapack_library **ret, struct diag *diag)
{
	(void)pthread_once(&library.once, load);
	if (library.error == -ENOENT)
		return diag_set(diag, -ENOENT,
				LIBRARY
				" is not installed; fitting lines needs it (Debian: apt install "
				"liblapacke)");
	if (library.error == -ENOSYS)
		return diag_set(diag, -ENOSYS, LIBRARY " is too old: it lacks %s", library.missing);
	*ret = &library.functions;
	return 0;
}
