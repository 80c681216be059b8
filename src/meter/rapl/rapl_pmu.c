// SPDX-License-Identifier: Apache-2.0
/*
 * A count is 2^-32 J in all kernels. The file that says so is read all the same; one microjoule or
 * more a count, which no kernel has, is refused, so that a counter's microjoules fit its own 64
 * bits.
 */
#include "meter/rapl/rapl_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/topology.h"
#include "meter/sysfs_number.h"

#define PMU_PATH "bus/event_source/devices/power"
#define TEXT_MAX 4096 /* a list of CPUs */

static const struct {
	const char *name;
	enum zone_kind kind;
} known_events[] = {
	{ "energy-pkg", ZONE_PACKAGE }, { "energy-cores", ZONE_CORE },
	{ "energy-gpu", ZONE_UNCORE },  { "energy-ram", ZONE_DRAM },
	{ "energy-psys", ZONE_PSYS },
};
_Static_assert(ARRAY_SIZE(known_events) == RAPL_PMU_EVENTS_MAX, "a place for each");

/* The line without its newline; -EBADMSG where that is missing. */
static int take_line(const char *text, ssize_t len, char *ret, size_t size)
{
	if (len < 0)
		return (int)len;
	if (len == 0 || text[len - 1] != '\n' || (size_t)len > size)
		return -EBADMSG;
	memcpy(ret, text, (size_t)len - 1);
	ret[len - 1] = '\0';
	return memchr(ret, '\0', (size_t)len - 1) ? -EBADMSG : 0;
}

int rapl_pmu_config_parse(const char *text, ssize_t len, uint64_t *ret_config)
{
	static const char prefix[] = "event=0x";
	const char *digits;
	uint64_t config = 0;
	char line[64];
	int r = take_line(text, len, line, sizeof(line));

	if (r < 0)
		return r;
	digits = line + sizeof(prefix) - 1;
	if (strncmp(line, prefix, sizeof(prefix) - 1) != 0 || !*digits || strlen(digits) > 2)
		return -EBADMSG; /* the format is checked to be config:0-7 */
	for (; *digits; digits++) {
		const char *found = strchr("0123456789abcdef", *digits);

		if (!found)
			return -EBADMSG;
		config = config << 4 | (uint64_t)(found - "0123456789abcdef");
	}
	*ret_config = config;
	return 0;
}

int rapl_pmu_scale_parse(const char *text, ssize_t len, uint64_t *ret_unit)
{
	double joules, unit;
	char line[64];
	int r = take_line(text, len, line, sizeof(line));

	if (r < 0)
		return r;
	if (parse_double(line, &joules) < 0)
		return -EBADMSG;
	unit = ldexp(joules * (double)UJ_PER_J, 64);
	if (!(unit >= 1) || unit >= 0x1p64)
		return -ERANGE;
	*ret_unit = (uint64_t)unit;
	return 0;
}

static ssize_t read_text(int dir_fd, const char *name, const char *suffix, char *buf, size_t size)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "%s%s", name, suffix);
	return read_file_nowait_at(dir_fd, path, buf, size);
}

static bool is_text(const char *text, ssize_t len, const char *expected)
{
	return len >= 0 && (size_t)len == strlen(expected) &&
	       memcmp(text, expected, (size_t)len) == 0;
}

/* 0, or -errno; -ENOENT where the event is not there. */
static int read_event(int dir_fd, const char *name, struct rapl_pmu_event *event)
{
	char text[128], path[64];
	int r;

	(void)snprintf(path, sizeof(path), "events/%s", name);
	r = rapl_pmu_config_parse(text, read_text(dir_fd, path, "", text, sizeof(text)),
				  &event->config);
	if (r < 0)
		return r;
	if (!is_text(text, read_text(dir_fd, path, ".unit", text, sizeof(text)), "Joules\n"))
		return -EBADMSG;
	r = rapl_pmu_scale_parse(text, read_text(dir_fd, path, ".scale", text, sizeof(text)),
				 &event->unit);
	return r == -ENOENT ? -EBADMSG : r;
}

static void read_events(int dir_fd, struct rapl_pmu *pmu)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++) {
		struct rapl_pmu_event *event = &pmu->events[pmu->event_count];
		int r = read_event(dir_fd, known_events[i].name, event);

		event->kind = known_events[i].kind;
		event->name = known_events[i].name;
		pmu->event_count += r == 0;
		pmu->unknown_count += r < 0 && r != -ENOENT;
	}
}

static int read_cpus(int dir_fd, struct rapl_pmu *pmu)
{
	char text[TEXT_MAX];
	ssize_t len = read_text(dir_fd, "cpumask", "", text, sizeof(text));

	if (len < 0)
		return (int)len;
	pmu->cpu_count = topology_list_cpus(text, pmu->cpus, ARRAY_SIZE(pmu->cpus));
	return 0; /* none: all of them are offline, or are about to be */
}

static int open_pmu(const char *sysfs)
{
	char path[TEXT_MAX];
	int fd;

	if (path_join(path, sizeof(path), sysfs, PMU_PATH) < 0)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool rapl_pmu_exists(const char *sysfs)
{
	CLEANUP_FD int fd = open_pmu(sysfs);

	return fd >= 0;
}

int rapl_pmu_read(const char *sysfs, struct rapl_pmu *ret)
{
	CLEANUP_FD int dir_fd = open_pmu(sysfs);
	struct rapl_pmu pmu = { 0 };
	uint64_t type;
	char text[64];
	int r;

	if (dir_fd < 0)
		return dir_fd;
	r = sysfs_number_parse(text, read_text(dir_fd, "type", "", text, sizeof(text)), &type);
	if (r < 0 || type > UINT32_MAX)
		return r < 0 ? r : -EBADMSG;
	pmu.type = (uint32_t)type;
	if (!is_text(text, read_text(dir_fd, "format/event", "", text, sizeof(text)),
		     "config:0-7\n"))
		return -EBADMSG;
	r = read_cpus(dir_fd, &pmu);
	if (r < 0)
		return r;
	read_events(dir_fd, &pmu);
	*ret = pmu;
	return 0;
}
