// SPDX-License-Identifier: Apache-2.0
/*
 * no_memory - an LD_PRELOAD library under which one allocation fails: the NO_MEMORY_AT-th, counted
 * from 1 once the libraries have started, over malloc, calloc, realloc, reallocarray and
 * aligned_alloc, for every caller. At exit it writes "allocations=N" to descriptor NO_MEMORY_FD, so
 * that a test knows when it has tried all.
 *
 * Nothing here allocates. glibc's own functions are called by their second names, as looking up the
 * first ones would allocate. posix_memalign is left alone: nothing of ours calls it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong calls;
static unsigned long fail_at; /* 0: none */

static unsigned long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	calls = 0;
	fail_at = number_of("NO_MEMORY_AT");
}

__attribute__((destructor)) static void end(void)
{
	unsigned long fd = number_of("NO_MEMORY_FD");

	if (fd)
		(void)dprintf((int)fd, "allocations=%lu\n", calls);
}

static bool fails(void)
{
	if (atomic_fetch_add(&calls, 1) + 1 != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

#pragma GCC visibility push(default) /* the build hides what is not asked for */

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

#pragma GCC visibility pop
