// SPDX-License-Identifier: Apache-2.0
#include "workbench/frequency_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define CPUS_MAX  8192
#define PATH_SIZE 512

static int file_of(const struct cpu_limits *limits, uint32_t cpu, const char *name,
		   char ret[static PATH_SIZE])
{
	int len = snprintf(ret, PATH_SIZE, "%s/devices/system/cpu/cpu%u/cpufreq/%s", limits->sysfs,
			   cpu, name);

	return len > 0 && len < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int read_khz(const struct cpu_limits *limits, uint32_t cpu, const char *name, uint64_t *ret)
{
	char path[PATH_SIZE], text[32];
	int r = file_of(limits, cpu, name, path);
	ssize_t len = r < 0 ? r : read_file_at(AT_FDCWD, path, text, sizeof(text));

	return len < 0 ? (int)len : parse_u64(text, (size_t)len, ret);
}

static int write_khz(const struct cpu_limits *limits, uint32_t cpu, uint64_t khz)
{
	char path[PATH_SIZE], text[FORMAT_U64_MAX + 1];
	size_t len = format_u64(text, khz);
	CLEANUP_FD int fd = -1;
	int r = file_of(limits, cpu, "scaling_max_freq", path);

	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text[len++] = '\n';
	return write(fd, text, len) == (ssize_t)len ? 0 : -errno;
}

int cpu_limits_read(const char *sysfs, struct cpu_limits *ret)
{
	struct cpu_limits limits = { .sysfs = strdup(sysfs), .lowest_khz = UINT64_MAX };

	if (!limits.sysfs)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		uint64_t max_khz, low_khz, high_khz;

		/* CPUs that are offline have no such files. */
		if (read_khz(&limits, cpu, "scaling_max_freq", &max_khz) < 0 ||
		    read_khz(&limits, cpu, "cpuinfo_min_freq", &low_khz) < 0 ||
		    read_khz(&limits, cpu, "cpuinfo_max_freq", &high_khz) < 0)
			continue;
		if (ARRAY_RESERVE(limits.limits, limits.size, limits.count + 1) < 0) {
			cpu_limits_release(&limits);
			return -ENOMEM;
		}
		limits.limits[limits.count++] = (struct cpu_limit){ cpu, max_khz };
		limits.lowest_khz = low_khz < limits.lowest_khz ? low_khz : limits.lowest_khz;
		limits.highest_khz = high_khz > limits.highest_khz ? high_khz : limits.highest_khz;
	}
	*ret = limits;
	return 0;
}

int cpu_limits_set(const struct cpu_limits *limits, uint64_t max_khz, struct diag *diag)
{
	for (size_t i = 0; i < limits->count; i++) {
		int r = write_khz(limits, limits->limits[i].cpu, max_khz);

		if (r < 0)
			return diag_set(diag, r,
					"%s/devices/system/cpu/cpu%u/cpufreq/scaling_max_freq: "
					"cannot be written: %s; run it as root, or with "
					"--frequencies=current",
					limits->sysfs, limits->limits[i].cpu, strerrordesc_np(-r));
	}
	return 0;
}

size_t cpu_limits_restore(const struct cpu_limits *limits)
{
	size_t failed = 0;

	for (size_t i = 0; i < limits->count; i++)
		failed += write_khz(limits, limits->limits[i].cpu, limits->limits[i].max_khz) < 0;
	return failed;
}

void cpu_limits_release(struct cpu_limits *limits)
{
	free(limits->sysfs);
	free(limits->limits);
	*limits = (struct cpu_limits){ 0 };
}
