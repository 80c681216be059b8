// SPDX-License-Identifier: Apache-2.0
/*
 * failing_call - an LD_PRELOAD library under which a call to the kernel fails. FAILING_CALL says
 * which: open, read, mmap, bpf, connect or accept. The FAILING_AT-th of these fails, counted from 1
 * once the libraries have started, and, with FAILING_FOR_GOOD, each one after it. At exit it writes
 * "calls=N" to descriptor FAILING_FD, so that a test knows when it has tried all.
 *
 * What the C library calls inside itself does not come here. Allocations: no_memory.c.
 */
#undef _FILE_OFFSET_BITS /* else open() is open64() already; both are wanted */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { CALL_OPEN, CALL_READ, CALL_MMAP, CALL_BPF, CALL_CONNECT, CALL_ACCEPT, CALL_COUNT };

static const char *const names[CALL_COUNT] = { "open", "read", "mmap", "bpf", "connect", "accept" };
static const int errors[CALL_COUNT] = { EMFILE, EIO, ENOMEM, ENOMEM, ECONNREFUSED, EMFILE };

static enum call chosen = CALL_COUNT;
static atomic_ulong calls;
static unsigned long fail_at; /* 0: none */
static bool for_good;

static unsigned long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAILING_CALL");

	calls = 0;
	fail_at = number_of("FAILING_AT");
	for_good = number_of("FAILING_FOR_GOOD") != 0;
	for (enum call call = 0; name && call < CALL_COUNT; call++) {
		if (strcmp(names[call], name) == 0)
			chosen = call;
	}
}

__attribute__((destructor)) static void end(void)
{
	unsigned long fd = number_of("FAILING_FD");

	chosen = CALL_COUNT;
	if (fd)
		(void)dprintf((int)fd, "calls=%lu\n", calls);
}

static bool fails(enum call call)
{
	unsigned long number;

	if (call != chosen)
		return false;
	number = atomic_fetch_add(&calls, 1) + 1;
	if (!fail_at || number < fail_at || (number > fail_at && !for_good))
		return false;
	errno = errors[call];
	return true;
}

/* The kernel's own counters, in its memory: no read of them can fail. */
static bool cannot_fail(int fd)
{
	static const char *const kinds[] = { "anon_inode:[signalfd]", "anon_inode:[timerfd]",
					     "anon_inode:[eventfd]" };
	char path[32], target[32];
	ssize_t len;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = readlink(path, target, sizeof(target) - 1);
	target[len < 0 ? 0 : len] = '\0';
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(target, kinds[i]) == 0)
			return true;
	}
	return false;
}

static bool read_fails(int fd)
{
	return chosen == CALL_READ && !cannot_fail(fd) && fails(CALL_READ);
}

#pragma GCC visibility push(default) /* the build hides what is not asked for */

static mode_t mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int directory, const char *path, int flags, ...) __attribute__((alias("openat")));

ssize_t read(int fd, void *buf, size_t size)
{
	return read_fails(fd) ? -1 : syscall(SYS_read, fd, buf, size);
}

ssize_t pread(int fd, void *buf, size_t size, off_t at)
{
	return read_fails(fd) ? -1 : syscall(SYS_pread64, fd, buf, size, at);
}

ssize_t pread64(int fd, void *buf, size_t size, off64_t at)
{
	return read_fails(fd) ? -1 : syscall(SYS_pread64, fd, buf, size, at);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fails(CALL_MMAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return mmap(at, size, protection, flags, fd, offset);
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return fails(CALL_CONNECT) ? -1 : (int)syscall(SYS_connect, fd, address, size);
}

int accept(int fd, struct sockaddr *address, socklen_t *size)
{
	return fails(CALL_ACCEPT) ? -1 : (int)syscall(SYS_accept4, fd, address, size, 0);
}

int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	return fails(CALL_ACCEPT) ? -1 : (int)syscall(SYS_accept4, fd, address, size, flags);
}

/* bpf() has no function of its own; and this one is how all of the above reach the kernel. */
long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list args;
	long value[6];

	va_start(args, number);
	for (size_t i = 0; i < 6; i++)
		value[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_bpf && fails(CALL_BPF))
		return -1;
	return next(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

#pragma GCC visibility pop
