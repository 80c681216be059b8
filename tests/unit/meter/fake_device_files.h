/* SPDX-License-Identifier: Apache-2.0 */
/* Open files of processes, as a test states: their fdinfo are files in memory. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/num.h"
#include "meter/drm/device_files.h"

#define FAKE_FILES_MAX 32

struct fake_file {
	struct open_device device;
	int fd; /* -1: it may not be read */
};

struct fake_device_files {
	struct device_files files; /* first */
	struct fake_file file[FAKE_FILES_MAX];
	size_t count;
	struct open_devices also; /* next to the files */
	int error;                /* of a search */
	unsigned searches, opened, refs;
	uint32_t other_pid; /* in another control group than all others; 0: none */
};

static inline int fake_search(struct device_files *files, struct open_device *list, size_t max,
			      struct open_devices *ret)
{
	struct fake_device_files *fake = (struct fake_device_files *)files;

	fake->searches++;
	if (fake->error)
		return fake->error;
	*ret = fake->also;
	for (ret->count = 0; ret->count < fake->count && ret->count < max; ret->count++)
		list[ret->count] = fake->file[ret->count].device;
	return 0;
}

static inline int fake_open(struct device_files *files, uint32_t pid, uint32_t fd)
{
	struct fake_device_files *fake = (struct fake_device_files *)files;

	fake->opened++;
	for (size_t i = 0; i < fake->count; i++) {
		const struct fake_file *file = &fake->file[i];

		if (file->device.pid == pid && file->device.fd == fd)
			return file->fd < 0 ? -EACCES : dup(file->fd);
	}
	return -ENOENT;
}

static inline uint64_t fake_group(struct device_files *files, uint32_t pid)
{
	const struct fake_device_files *fake = (const struct fake_device_files *)files;

	return pid == fake->other_pid ? 2 : 1;
}

static inline void fake_ref(struct device_files *files)
{
	((struct fake_device_files *)files)->refs++;
}

static inline void fake_unref(struct device_files *files)
{
	((struct fake_device_files *)files)->refs--;
}

static inline void fake_files_init(struct fake_device_files *fake)
{
	*fake = (struct fake_device_files){ .files = { fake_search, fake_open, fake_group, fake_ref,
						       fake_unref } };
}

static inline void fake_files_release(struct fake_device_files *fake)
{
	for (size_t i = 0; i < fake->count; i++) {
		if (fake->file[i].fd >= 0)
			(void)close(fake->file[i].fd);
	}
	fake->count = 0;
}

static inline struct fake_file *fake_find(struct fake_device_files *fake, uint32_t pid, uint32_t fd)
{
	for (size_t i = 0; i < fake->count; i++) {
		if (fake->file[i].device.pid == pid && fake->file[i].device.fd == fd)
			return &fake->file[i];
	}
	return NULL;
}

/* The text of a descriptor, which is new, or was there before. */
static inline void fake_text(struct fake_device_files *fake, uint32_t pid, uint32_t fd,
			     uint32_t minor, const char *text)
{
	struct fake_file *file = fake_find(fake, pid, fd);

	if (!file) {
		file = &fake->file[fake->count++];
		*file = (struct fake_file){ { pid, fd, 226, minor },
					    memfd_create("fdinfo", MFD_CLOEXEC) };
	}
	(void)!ftruncate(file->fd, 0);
	(void)!pwrite(file->fd, text, strlen(text), 0);
}

/* That of an i915 client, whose one engine was busy for @busy_ms. */
static inline void fake_client(struct fake_device_files *fake, uint32_t pid, uint32_t fd,
			       uint32_t minor, const char *address, unsigned id, unsigned busy_ms)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "pos:\t0\ndrm-driver:\ti915\ndrm-client-id:\t%u\ndrm-pdev:\t%s\n"
		       "drm-engine-render:\t%u000000 ns\n",
		       id, address, busy_ms);
	fake_text(fake, pid, fd, minor, text);
}

/* One that may not be read. */
static inline void fake_denied(struct fake_device_files *fake, uint32_t pid, uint32_t fd,
			       uint32_t minor)
{
	fake->file[fake->count++] = (struct fake_file){ { pid, fd, 226, minor }, -1 };
}

/* The descriptor was closed: files opened through it can no longer be read. */
static inline void fake_close(struct fake_device_files *fake, uint32_t pid, uint32_t fd)
{
	struct fake_file *file = fake_find(fake, pid, fd);

	(void)!ftruncate(file->fd, 0);
	(void)close(file->fd);
	*file = fake->file[--fake->count];
}
