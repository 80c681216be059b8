// SPDX-License-Identifier: Apache-2.0
#include "activity/open_device_finder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <open_devices.skel.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "bpf/kepler_types.h"

#define READ_DEVICES 256

struct open_device_finder {
	struct open_devices_bpf *skeleton;
	struct bpf_link *link;
};

int open_device_finder_open(const uint32_t *majors, size_t major_count,
			    struct open_device_finder **ret)
{
	CLEANUP_FREE struct open_device_finder *finder = calloc(1, sizeof(*finder));
	int r;

	if (!finder)
		return -ENOMEM;
	finder->skeleton = open_devices_bpf__open();
	if (!finder->skeleton)
		return -errno;
	/* Devices of a number that finds no room are not found. */
	for (size_t i = 0; i < major_count && i < KEPLER_DEVICE_MAJORS; i++)
		finder->skeleton->rodata->majors[i] = majors[i];
	r = open_devices_bpf__load(finder->skeleton);
	if (r == 0) {
		finder->link = bpf_program__attach_iter(finder->skeleton->progs.open_devices, NULL);
		r = finder->link ? 0 : -errno;
	}
	if (r < 0) {
		open_devices_bpf__destroy(finder->skeleton);
		return r;
	}
	*ret = TAKE_PTR(finder);
	return 0;
}

void open_device_finder_close(struct open_device_finder *finder)
{
	if (!finder)
		return;
	(void)bpf_link__destroy(finder->link);
	open_devices_bpf__destroy(finder->skeleton);
	free(finder);
}

static void take(const struct kepler_open_device *record, struct open_device_list *list)
{
	const struct open_device device = { record->pid, record->fd, record->major, record->minor };

	open_device_list_add(list, &device);
}

int open_device_finder_search(struct open_device_finder *finder, struct open_device *list,
			      size_t max, struct open_devices *ret)
{
	struct kepler_open_device records[READ_DEVICES];
	struct open_device_list taken = { .list = list, .max = max };
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(finder->link));
	size_t have = 0; /* bytes; a read may end inside a record */

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, (char *)records + have,
				 HOSTILE_LEAST(HOSTILE_PROC_READ, sizeof(records) - have));
		size_t count;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue; /* EAGAIN: the kernel has looked at a million files at once */
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
		count = have / sizeof(records[0]);
		for (size_t i = 0; i < count; i++)
			take(&records[i], &taken);
		have -= count * sizeof(records[0]);
		memmove(records, &records[count], have);
	}
	taken.found.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	*ret = taken.found;
	return 0;
}
