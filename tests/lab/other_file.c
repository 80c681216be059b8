// SPDX-License-Identifier: Apache-2.0
/*
 * other_file - an LD_PRELOAD library: a program that opens the file OTHER_FILE gets OTHER_FILE_IS
 * instead. So a program finds a file that this kernel does not have.
 */
#undef _FILE_OFFSET_BITS /* else open() is open64() already; both are wanted */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_other(int dir, const char *path, int flags, mode_t mode)
{
	const char *file = getenv("OTHER_FILE"), *is = getenv("OTHER_FILE_IS");

	if (file && is && strcmp(path, file) == 0)
		path = is;
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define OPEN_AT(name, dir, ...)                                                                    \
	__attribute__((visibility("default"))) int name(__VA_ARGS__, ...)                          \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, flags);                                                             \
		mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;                          \
		va_end(args);                                                                      \
		return open_other(dir, path, flags, mode);                                         \
	}

OPEN_AT(open, AT_FDCWD, const char *path, int flags)
OPEN_AT(open64, AT_FDCWD, const char *path, int flags)
OPEN_AT(openat, from, int from, const char *path, int flags)
OPEN_AT(openat64, from, int from, const char *path, int flags)
