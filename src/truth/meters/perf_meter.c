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
#include "truth/timed_file.h"
#include "truth/timed_meter.h"

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

/* The events of the PMU. */
struct found_event {
	size_t index; /* in events[] */
	uint64_t config;
	double joules;
};

struct pmu {
	uint32_t type;
	unsigned cpus[CPUS_MAX];
	size_t cpu_count;
	struct found_event events[ARRAY_SIZE(events)];
	size_t event_count;
};

/* A timed_call_fn: the path of sysfs as @state, a struct pmu as @ret. */
static ssize_t find_events(void *state, void *ret)
{
	struct pmu *pmu = ret;
	char dir[TRUTH_PATH_MAX], text[TEXT_MAX], unit[64], event[64];
	uint64_t type;

	memset(pmu, 0, sizeof(*pmu));
	if (path_join(dir, sizeof(dir), state, PMU_PATH) < 0 ||
	    !read_text(dir, "type", "", text, sizeof(text)) ||
	    parse_u64(text, strlen(text), &type) < 0 || type > UINT32_MAX ||
	    !read_text(dir, "cpumask", "", text, sizeof(text)))
		return -ENOENT;
	pmu->type = (uint32_t)type;
	pmu->cpu_count = truth_cpu_list_parse(text, pmu->cpus, CPUS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct found_event *found = &pmu->events[pmu->event_count];

		(void)snprintf(event, sizeof(event), "events/%s", events[i].event);
		found->index = i;
		if (read_text(dir, event, "", text, sizeof(text)) &&
		    truth_perf_event_parse(text, &found->config) &&
		    read_text(dir, event, ".scale", text, sizeof(text)) &&
		    read_text(dir, event, ".unit", unit, sizeof(unit)) &&
		    truth_perf_scale_parse(text, unit, &found->joules))
			pmu->event_count++;
	}
	return sizeof(*pmu);
}

struct source {
	uint32_t type;
	uint64_t config;
	unsigned cpu;
	int fd;
};

/* A timed_call_fn: a struct source as @state, the count as @ret. */
static ssize_t read_count(void *state, void *ret)
{
	struct source *source = state;
	struct perf_event_attr attr = { .type = source->type,
					.size = sizeof(attr),
					.config = source->config };

	if (source->fd < 0)
		source->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)source->cpu, -1,
					  PERF_FLAG_FD_CLOEXEC);
	ssize_t len = source->fd < 0 ? -1 : read(source->fd, ret, sizeof(uint64_t));
	return len < 0 ? -errno : len;
}

static int read_event(struct truth_meter *meter, double now_s, struct truth_value *ret,
		      struct diag *diag)
{
	(void)now_s;
	return timed_meter_read(meter, &ret->raw, sizeof(ret->raw), diag);
}

static void add_event(const struct pmu *pmu, const struct found_event *event, unsigned cpu,
		      struct truth *truth)
{
	const struct truth_meter like = { .read = read_event, .unit = event->joules };
	struct source source = { pmu->type, event->config, cpu, -1 };
	char path[64];
	uint64_t count;

	(void)snprintf(path, sizeof(path), "power/%s@cpu%u", events[event->index].event, cpu);
	struct timed_call *call =
		timed_meter_try(read_count, &source, &count, sizeof(count), path, truth);
	if (call)
		timed_meter_add(truth, events[event->index].kind, path, &like, call);
}

size_t truth_perf_kinds(const char *sysfs, struct truth *truth, const char *ret[PERF_KINDS])
{
	CLEANUP(timed_names_release) struct timed_names names = { 0 };
	char path[TRUTH_PATH_MAX];
	size_t count = 0;

	_Static_assert(ARRAY_SIZE(events) == PERF_KINDS, "a kind for each event");
	if (path_join(path, sizeof(path), sysfs, PMU_PATH "/events") < 0)
		return 0;
	int r = timed_folder_read(path, &names);
	if (r == -ETIMEDOUT)
		truth_search_failed(truth, path, r);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		for (const char *name = NULL; (name = timed_names_next(&names, name));)
			if (strcmp(name, events[i].event) == 0)
				ret[count++] = events[i].kind;
	return count;
}

void truth_search_perf(const char *sysfs, struct truth *truth)
{
	struct pmu pmu;
	ssize_t len = timed_call_once(find_events, (void *)(uintptr_t)sysfs, &pmu, sizeof(pmu));

	if (len == -ETIMEDOUT)
		truth_search_failed(truth, PMU_PATH, (int)len);
	if (len != (ssize_t)sizeof(pmu))
		return;
	for (size_t i = 0; i < pmu.event_count; i++)
		for (size_t cpu = 0; cpu < pmu.cpu_count; cpu++)
			add_event(&pmu, &pmu.events[i], pmu.cpus[cpu], truth);
}
