/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's perf PMU "power", which counts RAPL energy, as SYSFS/bus/event_source/devices/power
 * describes it: Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format,
 * arch/x86/events/rapl.c. The PMU "power_core" (AMD, energy of each core) is another one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "energy/zone.h"

#define RAPL_PMU_EVENTS_MAX 5
#define RAPL_PMU_CPUS_MAX   128

struct rapl_pmu_event {
	enum zone_kind kind;
	const char *name; /* "energy-pkg"; static */
	uint64_t config;  /* of struct perf_event_attr */
	uint64_t unit;    /* of a count: 2^-64 µJ */
};

struct rapl_pmu {
	uint32_t type; /* of struct perf_event_attr */
	struct rapl_pmu_event events[RAPL_PMU_EVENTS_MAX];
	size_t event_count;
	size_t unknown_count; /* events that are there, and described in another way */
	/* One in each package, or in each die of a package that has several. */
	unsigned cpus[RAPL_PMU_CPUS_MAX];
	size_t cpu_count;
};

/* True if the kernel has the PMU. */
bool rapl_pmu_exists(const char *sysfs);
/*
 * 0, -ENOENT without such a PMU, or another -errno; -EBADMSG if a file is not as the kernel
 * documents it.
 */
int rapl_pmu_read(const char *sysfs, struct rapl_pmu *ret);

/* The next ones parse text[0..len), the result of a read; a negative @len is returned. Pure. */
/* "event=0x02\n". 0, -EBADMSG. */
int rapl_pmu_config_parse(const char *text, ssize_t len, uint64_t *ret_config);
/*
 * "2.3283064365386962890625e-10\n" joules, in 2^-64 µJ. 0, -EBADMSG, or -ERANGE where a count is 0
 * or a microjoule or more.
 */
int rapl_pmu_scale_parse(const char *text, ssize_t len, uint64_t *ret_unit);

/* The microjoules of a counter, and those at which it starts again at 0, less one. Pure. */
static inline uint64_t rapl_pmu_energy_uj(uint64_t count, uint64_t unit)
{
	return (uint64_t)((unsigned __int128)count * unit >> 64);
}
static inline uint64_t rapl_pmu_range_uj(uint64_t unit)
{
	return unit - 1;
}
