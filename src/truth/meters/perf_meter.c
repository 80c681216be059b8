// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/perf_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "truth/meter_list.h"

#define PMU_PATH  "bus/event_source/devices/power"
#define TEXT_MAX  4096 /* a list of CPUs */
#define CPUS_MAX  128
#define CPU_MAX   65535
#define COUNT_MAX 1.0 /* J: a higher count is not from a meter */

static const struct {
	const char *event, *kind;
} events[] = {
	{ "energy-pkg", "package" }, { "energy-cores", "core" }, { "energy-gpu", "uncore" },
	{ "energy-ram", "dram" },    { "energy-psys", "psys" },
};

/*
 * Reads the digits at *@at and moves it past them. Returns false without digits, or if the number
 * is too large.
 */
static bool take_number(const char **at, unsigned *ret)
{
	unsigned long value = 0;
	const char *begin = *at;

	for (; **at >= '0' && **at <= '9' && value <= CPU_MAX; (*at)++)
		value = value * 10 + (unsigned long)(**at - '0');
	*ret = (unsigned)value;
	return *at != begin && value <= CPU_MAX;
}

size_t truth_cpu_list_parse(const char *text, unsigned *ret_cpus, size_t most)
{
	size_t count = 0;

	for (const char *at = text; *at && *at != '\n';) {
		unsigned first, last;

		if (!take_number(&at, &first))
			return 0;
		last = first;
		if (*at == '-' && (at++, !take_number(&at, &last)))
			return 0;
		for (unsigned cpu = first; cpu <= last && count < most; cpu++)
			ret_cpus[count++] = cpu;
		if (*at && *at != '\n' && *at++ != ',')
			return 0;
	}
	return count;
}

bool truth_perf_event_parse(const char *text, uint64_t *ret_config)
{
	static const char prefix[] = "event=0x";
	const char *digits = text + sizeof(prefix) - 1;
	char *end;

	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 ||
	    !strchr("0123456789abcdef", *digits) || !*digits)
		return false;
	unsigned long config = strtoul(digits, &end, 16);
	if (strcmp(end, "\n") != 0 || config > UINT8_MAX) /* the format is config:0-7 */
		return false;
	*ret_config = config;
	return true;
}

bool truth_perf_scale_parse(const char *scale, const char *unit, double *ret_joules)
{
	char text[64];
	double joules;

	if (strcmp(unit, "Joules\n") != 0)
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(scale, "\n"), scale);
	if (parse_double(text, &joules) < 0 || !(joules > 0 && joules <= COUNT_MAX))
		return false;
	*ret_joules = joules;
	return true;
}

static bool read_text(const char *pmu, const char *name, const char *suffix, char *buf, size_t size)
{
	char path[TRUTH_PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s%s", pmu, name, suffix);

	return len > 0 && (size_t)len < sizeof(path) &&
	       read_file_nowait_at(AT_FDCWD, path, buf, size) > 0;
}

static int read_event(struct truth_meter *meter, double now_s, struct truth_value *ret,
		      struct diag *diag)
{
	(void)now_s;
	ssize_t len = read(meter->fd, &ret->raw, sizeof(ret->raw));

	if (len == (ssize_t)sizeof(ret->raw))
		return 0;
	return diag_set(diag, len < 0 ? -errno : -EIO, "%s: it cannot be read: %s", meter->path,
			len < 0 ? strerror(errno) : "it has ended");
}

static void open_event(uint32_t type, uint64_t config, double joules, size_t index, unsigned cpu,
		       struct truth *truth)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .config = config };
	char path[64];
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return;
	const struct truth_meter like = { .read = read_event, .unit = joules, .fd = fd };
	(void)snprintf(path, sizeof(path), "power/%s@cpu%u", events[index].event, cpu);
	truth_add_meter(truth, events[index].kind, path, &like);
}

bool truth_perf_has(const char *sysfs, const char *kind)
{
	char path[TRUTH_PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		int len = snprintf(path, sizeof(path), "%s/" PMU_PATH "/events/%s", sysfs,
				   events[i].event);

		if (strcmp(events[i].kind, kind) == 0 && len > 0 && (size_t)len < sizeof(path) &&
		    access(path, F_OK) == 0)
			return true;
	}
	return false;
}

void truth_search_perf(const char *sysfs, struct truth *truth)
{
	char pmu[TRUTH_PATH_MAX], text[TEXT_MAX], unit[64], event[64];
	unsigned cpus[CPUS_MAX];
	uint64_t type, config;
	double joules;

	if (path_join(pmu, sizeof(pmu), sysfs, PMU_PATH) < 0 ||
	    !read_text(pmu, "type", "", text, sizeof(text)) ||
	    parse_u64(text, strlen(text), &type) < 0 || type > UINT32_MAX ||
	    !read_text(pmu, "cpumask", "", text, sizeof(text)))
		return;
	size_t cpu_count = truth_cpu_list_parse(text, cpus, ARRAY_SIZE(cpus));
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		(void)snprintf(event, sizeof(event), "events/%s", events[i].event);
		if (!read_text(pmu, event, "", text, sizeof(text)) ||
		    !truth_perf_event_parse(text, &config) ||
		    !read_text(pmu, event, ".scale", text, sizeof(text)) ||
		    !read_text(pmu, event, ".unit", unit, sizeof(unit)) ||
		    !truth_perf_scale_parse(text, unit, &joules))
			continue;
		for (size_t cpu = 0; cpu < cpu_count; cpu++)
			open_event((uint32_t)type, config, joules, i, cpus[cpu], truth);
	}
}
