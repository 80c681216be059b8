// SPDX-License-Identifier: Apache-2.0
#include "host/open_devices.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

struct search {
	const uint32_t *majors;
	size_t major_count;
	struct open_device_list list;
};

static bool take_number(const char *text, uint32_t *ret)
{
	uint64_t value;

	if (parse_u64(text, strlen(text), &value) < 0 || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

void open_device_list_add(struct open_device_list *list, const struct open_device *device)
{
	list->of_pid = device->pid == list->pid ? list->of_pid + 1 : 1;
	list->pid = device->pid;
	if (list->found.count < list->max && list->of_pid <= OPEN_DEVICES_PROCESS_MAX)
		list->list[list->found.count++] = *device;
	else
		list->found.beyond++;
}

/* *ret_found: the descriptor @name of the folder @dir_fd is such a device. 0, or -errno. */
static int find_device(const struct search *search, int dir_fd, const char *name,
		       struct open_device *ret, bool *ret_found)
{
	struct statx stat;

	*ret_found = false;
	if (statx(dir_fd, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &stat) < 0)
		return -errno;
	ret->major = stat.stx_rdev_major;
	ret->minor = stat.stx_rdev_minor;
	for (size_t i = 0; i < search->major_count; i++)
		*ret_found |= S_ISCHR(stat.stx_mode) && ret->major == search->majors[i];
	return 0;
}

static void search_process(struct search *search, int proc_fd, uint32_t pid)
{
	const struct dirent *entry;
	bool is_hidden = false;
	char path[32];
	DIR *dir;
	int fd;

	(void)snprintf(path, sizeof(path), "%u/fd", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		search->list.found.hidden += errno == EACCES;
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct open_device device = { .pid = pid };
		bool is_device;

		if (!take_number(entry->d_name, &device.fd))
			continue;
		is_hidden |= find_device(search, fd, entry->d_name, &device, &is_device) == -EACCES;
		if (is_device)
			open_device_list_add(&search->list, &device);
	}
	search->list.found.hidden += is_hidden;
	(void)closedir(dir);
}

int open_devices_search(int proc_fd, const uint32_t *majors, size_t major_count,
			struct open_device *list, size_t max, struct open_devices *ret)
{
	struct search search = { majors, major_count, { .list = list, .max = max } };
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint32_t pid;

	if (!dir) {
		int r = -errno;

		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	while ((entry = readdir(dir))) {
		if (take_number(entry->d_name, &pid))
			search_process(&search, proc_fd, pid);
	}
	(void)closedir(dir);
	search.list.found.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	*ret = search.list.found;
	return 0;
}
