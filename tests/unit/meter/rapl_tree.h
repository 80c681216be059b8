/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs, and the perf PMU "power", in the sysfs of a test. */
#pragma once

#include <errno.h>

#include "fake_tree.h"

#define PMU     "bus/event_source/devices/power/"
#define SCALE   "2.3283064365386962890625e-10\n"
#define COUNT_J (1ULL << 32) /* counts in a joule */

/* Writes SYSFS/NAME, with the directories that it needs. */
static inline void rapl_put(const struct fake_tree *tree, const char *name, const char *text)
{
	char path[512];
	size_t root = (size_t)snprintf(path, sizeof(path), "%s/", tree->sysfs);
	int fd;

	(void)snprintf(path + root, sizeof(path) - root, "%s", name);
	for (char *at = strchr(path + root, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*at = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static inline void rapl_put_cpu(const struct fake_tree *tree, unsigned cpu, unsigned package,
				unsigned die)
{
	char name[128], text[16];

	(void)snprintf(name, sizeof(name), "devices/system/cpu/cpu%u/topology/physical_package_id",
		       cpu);
	(void)snprintf(text, sizeof(text), "%u\n", package);
	rapl_put(tree, name, text);
	(void)snprintf(name, sizeof(name), "devices/system/cpu/cpu%u/topology/die_id", cpu);
	(void)snprintf(text, sizeof(text), "%u\n", die);
	rapl_put(tree, name, text);
}

static inline void rapl_put_event(const struct fake_tree *tree, const char *name,
				  const char *config)
{
	char path[128];

	(void)snprintf(path, sizeof(path), PMU "events/%s", name);
	rapl_put(tree, path, config);
	(void)snprintf(path, sizeof(path), PMU "events/%s.scale", name);
	rapl_put(tree, path, SCALE);
	(void)snprintf(path, sizeof(path), PMU "events/%s.unit", name);
	rapl_put(tree, path, "Joules\n");
}

/* Without events. */
static inline void rapl_put_pmu(const struct fake_tree *tree, const char *cpumask)
{
	rapl_put(tree, PMU "type", "10\n");
	rapl_put(tree, PMU "format/event", "config:0-7\n");
	rapl_put(tree, PMU "cpumask", cpumask);
}
