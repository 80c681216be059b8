// SPDX-License-Identifier: Apache-2.0
#include "host/open_devices.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

#define LINK_MAX 64 /* a longer one is no device's */

struct search {
	const struct device_kind *kinds;
	size_t kind_count;
	struct open_device *list;
	size_t max;
	struct open_devices found;
};

static bool take_number(const char *text, uint32_t *ret)
{
	uint64_t value;

	if (parse_u64(text, strlen(text), &value) < 0 || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool device_kind_of(const struct device_kind *kinds, size_t kind_count, const char *path,
		    struct open_device *ret)
{
	for (size_t i = 0; i < kind_count; i++) {
		size_t len = strlen(kinds[i].prefix);
		uint32_t minor;

		if (strncmp(path, kinds[i].prefix, len) == 0 && take_number(path + len, &minor)) {
			ret->major = kinds[i].major;
			ret->minor = minor;
			return true;
		}
	}
	return false;
}

static void take(struct search *search, const struct open_device *device)
{
	if (search->found.count < search->max)
		search->list[search->found.count++] = *device;
	else
		search->found.beyond++;
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
		search->found.hidden += errno == EACCES;
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct open_device device = { .pid = pid };
		char link[LINK_MAX];
		ssize_t len;

		if (!take_number(entry->d_name, &device.fd))
			continue;
		len = readlinkat(fd, entry->d_name, link, sizeof(link));
		is_hidden |= len < 0 && errno == EACCES;
		if (len < 0 || (size_t)len == sizeof(link))
			continue;
		link[len] = '\0';
		if (device_kind_of(search->kinds, search->kind_count, link, &device))
			take(search, &device);
	}
	search->found.hidden += is_hidden;
	(void)closedir(dir);
}

int open_devices_search(int proc_fd, const struct device_kind *kinds, size_t kind_count,
			struct open_device *list, size_t max, struct open_devices *ret)
{
	struct search search = { kinds, kind_count, list, max, { 0 } };
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
	search.found.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	*ret = search.found;
	return 0;
}
