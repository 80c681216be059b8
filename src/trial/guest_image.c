// SPDX-License-Identifier: Apache-2.0
#include "trial/guest_image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/macro.h"

#if defined(__x86_64__) || defined(__aarch64__)
static const unsigned char program[] = {
#include "trial/guest_program.inc"
};
#else /* no guest is started */
static const unsigned char program[] = { 0 };
#endif

static void pad(FILE *file)
{
	while (ftell(file) % 4 != 0)
		(void)fputc(0, file);
}

static void add_entry(FILE *file, const char *name, unsigned mode, dev_t device, const void *data,
		      size_t len)
{
	/* inode, mode, user, group, links, time; length; its device; device, name's length, sum */
	(void)fprintf(file, "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x%s", 0U,
		      mode, 0U, 0U, 1U, 0U, len, 0U, 0U, major(device), minor(device),
		      strlen(name) + 1, 0U, name);
	(void)fputc(0, file);
	pad(file);
	if (len > 0)
		(void)fwrite(data, 1, len, file);
	pad(file);
}

int guest_image_open(void)
{
	CLEANUP_FD int fd = memfd_create("kepler-initramfs", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	FILE *file = fopen(path, "we");
	if (!file)
		return -errno;
	add_entry(file, "dev", S_IFDIR | 0755, 0, NULL, 0);
	add_entry(file, "dev/console", S_IFCHR | 0600, makedev(5, 1), NULL, 0);
	add_entry(file, "init", S_IFREG | 0755, 0, program, sizeof(program));
	add_entry(file, "TRAILER!!!", 0, 0, NULL, 0);
	bool has_failed = ferror(file) != 0;
	return fclose(file) != 0 || has_failed ? -EIO : TAKE_FD(fd);
}
