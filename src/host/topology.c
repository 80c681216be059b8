// SPDX-License-Identifier: Apache-2.0
/*
 * Each online CPU has topology/physical_package_id and core_id; cores are the different pairs,
 * sockets the different packages.
 */
#include "host/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define CPUS_MAX 8192
#define LIST_MAX 4096 /* of the text of a list of CPUs */

static bool parse_cpu(const char **at, unsigned *ret)
{
	size_t len = strspn(*at, "0123456789");
	uint64_t value;

	if (parse_u64(*at, len, &value) < 0 || value >= CPUS_MAX)
		return false;
	*at += len;
	*ret = (unsigned)value;
	return true;
}

/* Takes "N" or "N-M" and the comma after it. */
static bool parse_range(const char **at, unsigned *ret_first, unsigned *ret_last)
{
	if (!parse_cpu(at, ret_first))
		return false;
	*ret_last = *ret_first;
	if (**at == '-') {
		(*at)++;
		if (!parse_cpu(at, ret_last) || *ret_last < *ret_first)
			return false;
	}
	if (**at == ',')
		(*at)++;
	return true;
}

size_t topology_list_cpus(const char *list, unsigned *ret_cpus, size_t max)
{
	unsigned first, last;
	size_t count = 0;

	while (*list && *list != '\n') {
		if (!parse_range(&list, &first, &last))
			return 0;
		for (unsigned cpu = first; cpu <= last && count < max; cpu++)
			ret_cpus[count++] = cpu;
	}
	return count;
}

unsigned topology_count_cpus(const char *list)
{
	unsigned first, last, count = 0;

	while (*list && *list != '\n') {
		if (!parse_range(&list, &first, &last))
			return 0;
		count += last - first + 1;
	}
	return count;
}

static bool read_id(int dir_fd, unsigned cpu, const char *name, uint32_t *ret)
{
	char path[64], text[32];
	uint64_t value;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, name);
	len = read_file_nowait_at(dir_fd, path, text, sizeof(text));
	if (len < 0 || parse_u64(text, (size_t)len, &value) < 0 || value > UINT32_MAX)
		return false; /* some firmware has -1 */
	*ret = (uint32_t)value;
	return true;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The (package, core) pair of each CPU in @list; their number. */
static size_t read_ids(int dir_fd, const char *list, uint64_t *ids)
{
	unsigned first, last;
	size_t count = 0;

	while (*list && *list != '\n' && parse_range(&list, &first, &last)) {
		for (unsigned cpu = first; cpu <= last && count < CPUS_MAX; cpu++) {
			uint32_t package, core;

			if (read_id(dir_fd, cpu, "physical_package_id", &package) &&
			    read_id(dir_fd, cpu, "core_id", &core))
				ids[count++] = (uint64_t)package << 32 | core;
		}
	}
	return count;
}

/* The directory of CPUs and the list of those online; -1 if it is missing. */
static int open_cpus(const char *sysfs, char *list, size_t size)
{
	CLEANUP_FD int dir_fd = -1;
	char path[4096];

	if (path_join(path, sizeof(path), sysfs, "devices/system/cpu") < 0)
		return -1;
	dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || read_file_nowait_at(dir_fd, "online", list, size) < 0)
		return -1;
	return TAKE_FD(dir_fd);
}

bool topology_place(const char *sysfs, unsigned cpu, struct cpu_place *ret)
{
	struct cpu_place place = { 0, 0 };
	CLEANUP_FD int dir_fd = -1;
	char path[4096];

	if (path_join(path, sizeof(path), sysfs, "devices/system/cpu") < 0)
		return false;
	dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || !read_id(dir_fd, cpu, "physical_package_id", &place.package))
		return false;
	if (!read_id(dir_fd, cpu, "die_id", &place.die))
		place.die = 0;
	*ret = place;
	return true;
}

bool topology_is_first_of_core(const char *sysfs, unsigned cpu)
{
	char dir[4096], path[4096 + 64], list[LIST_MAX];
	unsigned first;

	if (path_join(dir, sizeof(dir), sysfs, "devices/system/cpu") < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s/cpu%u/topology/thread_siblings_list", dir, cpu);
	return read_file_nowait_at(AT_FDCWD, path, list, sizeof(list)) >= 0 &&
	       topology_list_cpus(list, &first, 1) == 1 && first == cpu;
}

void topology_visit(const char *sysfs, topology_cpu_fn *fn, void *userdata)
{
	char list[LIST_MAX];
	CLEANUP_FD int dir_fd = open_cpus(sysfs, list, sizeof(list));
	const char *at = list;
	unsigned first, last;

	if (dir_fd < 0)
		return;
	while (*at && *at != '\n' && parse_range(&at, &first, &last)) {
		for (unsigned cpu = first; cpu <= last; cpu++) {
			uint32_t package;

			if (read_id(dir_fd, cpu, "physical_package_id", &package))
				fn(userdata, cpu, package);
		}
	}
}

int topology_read(const char *sysfs, struct topology *ret)
{
	CLEANUP_FREE uint64_t *ids = calloc(CPUS_MAX, sizeof(*ids));
	struct topology topology = { 0 };
	CLEANUP_FD int dir_fd = -1;
	char list[LIST_MAX];
	size_t count;

	*ret = topology;
	if (!ids)
		return -ENOMEM;
	dir_fd = open_cpus(sysfs, list, sizeof(list));
	if (dir_fd < 0)
		return 0;
	topology.cpus = topology_count_cpus(list);
	count = read_ids(dir_fd, list, ids);
	qsort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < count; i++) {
		topology.cores += i == 0 || ids[i] != ids[i - 1];
		topology.sockets += i == 0 || ids[i] >> 32 != ids[i - 1] >> 32;
	}
	*ret = topology;
	return 0;
}
