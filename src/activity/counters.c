// SPDX-License-Identifier: Apache-2.0
/*
 * A processor with cores of several kinds has a PMU for each (cpu_core, cpu_atom, cpu_lowpower on
 * x86). There the number of that PMU's type goes into the upper half of a generic event, as
 * PERF_PMU_TYPE_SHIFT says; on arm64 the kernel finds the PMU of a CPU by itself.
 */
#include "activity/counters.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "bpf/kepler_work.h"
#include "host/topology.h"

#define KINDS_MAX  3
#define CPUS_MAX   8192
#define TYPE_SHIFT 32 /* PERF_PMU_TYPE_SHIFT */

_Static_assert((int)COUNTER_USES == KEPLER_COUNTERS_MAX, "a place for each");

struct core_kind {
	uint32_t type;
	size_t cpu_count;
	unsigned *cpus;
};

struct counters {
	struct counter_event events[COUNTER_USES];
	uint32_t mask;
	struct core_kind kinds[KINDS_MAX];
	size_t kind_count;
};

static ssize_t read_pmu(const char *sysfs, const char *pmu, const char *name, char *buf,
			size_t size)
{
	char path[PATH_MAX];
	int len =
		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", sysfs, pmu, name);

	return len < 0 || (size_t)len >= sizeof(path) ? -ENAMETOOLONG
						      : read_file_at(AT_FDCWD, path, buf, size);
}

static int find_kind(struct counters *counters, const char *sysfs, const char *pmu)
{
	struct core_kind *kind = &counters->kinds[counters->kind_count];
	char type[32], list[4096];
	ssize_t len = read_pmu(sysfs, pmu, "type", type, sizeof(type));
	uint64_t number;

	if (len < 0 || parse_u64(type, (size_t)len, &number) < 0 || number > UINT32_MAX ||
	    read_pmu(sysfs, pmu, "cpus", list, sizeof(list)) < 0)
		return 0;
	kind->cpu_count = topology_count_cpus(list);
	if (!kind->cpu_count || kind->cpu_count > CPUS_MAX)
		return 0;
	kind->cpus = calloc(kind->cpu_count, sizeof(*kind->cpus));
	if (!kind->cpus)
		return -ENOMEM;
	(void)topology_list_cpus(list, kind->cpus, kind->cpu_count);
	kind->type = (uint32_t)number;
	counters->kind_count++;
	return 0;
}

static int find_kinds(struct counters *counters, const char *sysfs)
{
	static const char *const pmus[KINDS_MAX] = { "cpu_core", "cpu_atom", "cpu_lowpower" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < KINDS_MAX; i++)
		r = find_kind(counters, sysfs, pmus[i]);
	return r;
}

/* The upper half of a generic event's config on @cpu. */
static uint64_t type_of_core(const struct counters *counters, unsigned cpu)
{
	for (size_t i = 0; i < counters->kind_count; i++) {
		const struct core_kind *kind = &counters->kinds[i];

		for (size_t j = 0; j < kind->cpu_count; j++) {
			if (kind->cpus[j] == cpu)
				return (uint64_t)kind->type << TYPE_SHIFT;
		}
	}
	return 0;
}

uint64_t counters_config(const struct counters *counters, const struct counter_event *event,
			 unsigned cpu)
{
	if (event->type != PERF_TYPE_HARDWARE && event->type != PERF_TYPE_HW_CACHE)
		return event->config;
	return event->config | type_of_core(counters, cpu);
}

/* A descriptor or -errno. */
static int open_event(const struct counters *counters, const struct counter_event *event,
		      unsigned cpu)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.size = sizeof(attr),
		.config = counters_config(counters, event, cpu),
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* A PMU may be on some of the CPUs only. 0 where one of them opens the event, else -errno. */
static int try_event(const struct counters *counters, const struct counter_event *event,
		     const unsigned *cpus, size_t cpu_count)
{
	int r = -ENODEV;

	for (size_t i = 0; i < cpu_count; i++) {
		r = open_event(counters, event, cpus[i]);
		if (r >= 0) {
			(void)close(r);
			return 0;
		}
		if (r == -EACCES || r == -EPERM)
			break; /* no CPU will */
	}
	return r;
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP;
}

/* Finds the event @name, or its stand-in. 0, or -errno of the event itself. */
static int find_event(const struct counters *counters, const char *sysfs, const char *name,
		      enum counter_use use, const unsigned *cpus, size_t cpu_count,
		      struct counter_event *event)
{
	struct counter_event stand_in;
	int r = counter_event_find(sysfs, name, use, event);

	if (r == 0 && event->is_counted)
		r = try_event(counters, event, cpus, cpu_count);
	if (!is_missing(r) || strcmp(name, "auto") != 0 ||
	    counter_event_stand_in(sysfs, use, &stand_in) < 0 ||
	    try_event(counters, &stand_in, cpus, cpu_count) < 0)
		return r;
	*event = stand_in;
	return 0;
}

static bool has_errors(const int errors[COUNTER_USES], int from)
{
	for (int use = from; use < COUNTER_USES; use++) {
		if (errors[use])
			return true;
	}
	return false;
}

static const char *explain(int err)
{
	if (is_missing(err))
		return "this processor, or this virtual machine, has no such event";
	if (err == -EACCES || err == -EPERM)
		return "not permitted; CAP_PERFMON is needed, or CAP_SYS_ADMIN with "
		       "kernel.perf_event_paranoid=3";
	return strerrordesc_np(-err);
}

/* "cycles, instructions: reason; cache-misses (msr:0x9): reason" */
static void explain_all(const char *const names[COUNTER_USES], const int errors[COUNTER_USES],
			char *why, size_t size)
{
	static const char *const uses[COUNTER_USES] = { "cycles", "ref-cycles", "instructions",
							"cache-misses" };
	size_t len = 0;

	why[0] = '\0';
	for (int use = 0; use < COUNTER_USES && len < size; use++) {
		bool is_auto = strcmp(names[use], "auto") == 0;
		bool has_next = use + 1 < COUNTER_USES && errors[use + 1] == errors[use];

		if (!errors[use])
			continue;
		len += (size_t)snprintf(why + len, size - len, "%s%s%s%s", uses[use],
					is_auto ? "" : " (", is_auto ? "" : names[use],
					is_auto ? "" : ")");
		if (len < size)
			len += (size_t)snprintf(why + len, size - len, "%s%s",
						has_next ? ", " : ": ",
						has_next ? "" : explain(errors[use]));
		if (!has_next && len < size && has_errors(errors, use + 1))
			len += (size_t)snprintf(why + len, size - len, "; ");
	}
}

int counters_find(const char *sysfs, const char *const names[COUNTER_USES], const unsigned *cpus,
		  size_t cpu_count, struct counters **ret, char *why, size_t why_size)
{
	int errors[COUNTER_USES] = { 0 };
	struct counters *counters = calloc(1, sizeof(*counters));

	if (!counters)
		return -ENOMEM;
	if (find_kinds(counters, sysfs) < 0) {
		counters_free(counters);
		return -ENOMEM;
	}
	for (int use = 0; use < COUNTER_USES; use++) {
		struct counter_event *event = &counters->events[use];
		int r = find_event(counters, sysfs, names[use], (enum counter_use)use, cpus,
				   cpu_count, event);

		if (r < 0)
			errors[use] = r;
		else if (event->is_counted)
			counters->mask |= 1U << use;
	}
	explain_all(names, errors, why, why_size);
	*ret = counters;
	return 0;
}

void counters_free(struct counters *counters)
{
	if (!counters)
		return;
	for (size_t i = 0; i < KINDS_MAX; i++)
		free(counters->kinds[i].cpus);
	free(counters);
}

uint32_t counters_mask(const struct counters *counters)
{
	return counters ? counters->mask : 0;
}

unsigned counters_open_cpu(const struct counters *counters, int map_fd, unsigned cpu)
{
	unsigned failed = 0;

	for (uint32_t use = 0; use < COUNTER_USES; use++) {
		uint32_t key = cpu * KEPLER_COUNTERS_MAX + use;
		int fd;

		if (!(counters_mask(counters) & 1U << use))
			continue;
		fd = open_event(counters, &counters->events[use], cpu);
		if (fd < 0 || bpf_map_update_elem(map_fd, &key, &fd, BPF_ANY) < 0)
			failed++;
		if (fd >= 0)
			(void)close(fd);
	}
	return failed;
}

void counters_close_cpu(const struct counters *counters, int map_fd, unsigned cpu)
{
	for (uint32_t use = 0; use < COUNTER_USES; use++) {
		uint32_t key = cpu * KEPLER_COUNTERS_MAX + use;

		if (counters_mask(counters) & 1U << use)
			(void)bpf_map_delete_elem(map_fd, &key); /* it may have failed to open */
	}
}
