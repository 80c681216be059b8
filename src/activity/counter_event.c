// SPDX-License-Identifier: Apache-2.0
/*
 * Names follow perf-list(1); folders of a PMU are described in
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events and -format.
 *
 * On x86 the generic cache-misses are misses of the last level (Intel's architectural event). On
 * other processors they may be misses of the first, so there the event for reads that the last
 * level misses is used, and nothing in its place where the processor lacks it.
 */
#include "activity/counter_event.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"

#define PMU_MAX   64
#define TERMS_MAX 256 /* bytes */

#define LLC_READ_MISSES                                                                            \
	(PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_READ << 8 |                               \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} generic[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "LLC-load-misses", PERF_TYPE_HW_CACHE, LLC_READ_MISSES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
};

static const char *const automatic[COUNTER_USES] = {
	[COUNTER_CYCLES] = "cycles",
	[COUNTER_REF_CYCLES] = "ref-cycles",
	[COUNTER_INSTRUCTIONS] = "instructions",
#if defined(__x86_64__)
	[COUNTER_CACHE_MISSES] = "cache-misses",
#else
	[COUNTER_CACHE_MISSES] = "LLC-load-misses",
#endif
};

/* Counters of the PMU "msr" of x86, which each CPU has in addition to its own PMU. */
static const char *const stand_ins[COUNTER_USES] = {
	[COUNTER_CYCLES] = "aperf",
	[COUNTER_REF_CYCLES] = "mperf",
};

/* The parts of a name: of `PMU/TERMS/` or of `PMU:CONFIG`. */
struct parts {
	char pmu[PMU_MAX];
	char terms[TERMS_MAX];
	uint64_t config; /* without terms */
};

/* All of @text[0..len) is a number, decimal or with 0x. */
static bool parse_number(const char *text, size_t len, uint64_t *ret)
{
	char copy[24], *end;

	if (len == 0 || len >= sizeof(copy) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	errno = 0;
	*ret = strtoull(copy, &end, 0);
	return *end == '\0' && errno == 0;
}

/* A name is also one of a file. */
static bool copy_name(char *buf, size_t size, const char *text, size_t len)
{
	if (len == 0 || len >= size || text[0] == '.' || memchr(text, '/', len))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	return true;
}

static bool split_terms(const char *text, const char *slash, struct parts *ret)
{
	size_t len = strlen(slash + 1);

	if (len < 2 || slash[len] != '/' || len - 1 >= sizeof(ret->terms) ||
	    memchr(slash + 1, '/', len - 1))
		return false;
	memcpy(ret->terms, slash + 1, len - 1);
	return copy_name(ret->pmu, sizeof(ret->pmu), text, (size_t)(slash - text));
}

static bool split(const char *text, struct parts *ret)
{
	const char *slash = strchr(text, '/'), *colon = strchr(text, ':');

	*ret = (struct parts){ 0 };
	if (slash)
		return split_terms(text, slash, ret);
	return colon && copy_name(ret->pmu, sizeof(ret->pmu), text, (size_t)(colon - text)) &&
	       parse_number(colon + 1, strlen(colon + 1), &ret->config);
}

static const char *find_generic(const char *text, struct counter_event *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(generic); i++) {
		if (strcmp(generic[i].name, text) == 0) {
			*ret = (struct counter_event){ true, generic[i].type, generic[i].config };
			return generic[i].name;
		}
	}
	return NULL;
}

int counter_event_check(const char *text, struct diag *diag)
{
	struct counter_event event;
	struct parts parts;

	if (strcmp(text, "none") == 0 || strcmp(text, "auto") == 0 || find_generic(text, &event) ||
	    split(text, &parts))
		return 0;
	return diag_set(
		diag, -EINVAL,
		"must be auto, none, an event of perf (cycles, instructions, LLC-load-misses, "
		"…), PMU/TERM=VALUE,…/, PMU:CONFIG or TYPE:CONFIG, not \"%s\"",
		text);
}

/* ---- terms of a PMU ---- */

/* Takes "N" or "N-M". */
static bool parse_bits(const char **at, unsigned *ret_first, unsigned *ret_last)
{
	char *end;

	*ret_first = (unsigned)strtoul(*at, &end, 10);
	if (end == *at)
		return false;
	*ret_last = *ret_first;
	*at = end;
	if (**at == '-') {
		*ret_last = (unsigned)strtoul(*at + 1, &end, 10);
		if (end == *at + 1)
			return false;
		*at = end;
	}
	return *ret_first <= *ret_last && *ret_last < 64;
}

int counter_event_place_bits(const char *format, uint64_t value, uint64_t *config)
{
	const char *at = format + strlen("config:");
	unsigned first, last;

	if (strncmp(format, "config:", strlen("config:")) != 0)
		return strncmp(format, "config", strlen("config")) == 0 ? -ENOENT : -EBADMSG;
	do {
		uint64_t mask;

		if (!parse_bits(&at, &first, &last))
			return -EBADMSG;
		mask = UINT64_MAX >> (63 - (last - first));
		*config = (*config & ~(mask << first)) | (value & mask) << first;
		value = last - first == 63 ? 0 : value >> (last - first + 1);
	} while (*at++ == ',');
	return value ? -ERANGE : 0;
}

static ssize_t read_pmu(const char *sysfs, const char *pmu, const char *folder, const char *name,
			char *buf, size_t size)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s%s", sysfs, pmu,
			   folder, name);
	ssize_t n;

	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	n = read_file_at(AT_FDCWD, path, buf, size);
	if (n > 0)
		buf[strcspn(buf, "\n")] = '\0';
	return n;
}

static int place_term(const char *sysfs, const char *pmu, const char *name, uint64_t value,
		      uint64_t *config)
{
	char format[64];
	ssize_t n;

	if (strcmp(name, "config") == 0) {
		*config = value;
		return 0;
	}
	n = read_pmu(sysfs, pmu, "format/", name, format, sizeof(format));
	return n < 0 ? (int)n : counter_event_place_bits(format, value, config);
}

/* @terms is changed. A term of the folder `events` stands for others, which are of `format`. */
static int place_terms(const char *sysfs, const char *pmu, char *terms, bool may_be_named,
		       uint64_t *config)
{
	char *rest = terms;
	int r = 0;

	while (r == 0 && rest) {
		char *term = strsep(&rest, ","), *equals = strchr(term, '=');
		char name[PMU_MAX], named[TERMS_MAX];
		uint64_t value = 1; /* of a flag */

		if (equals && !parse_number(equals + 1, strlen(equals + 1), &value))
			return -EINVAL;
		if (!copy_name(name, sizeof(name), term,
			       equals ? (size_t)(equals - term) : strlen(term)))
			return -EINVAL;
		if (!equals && may_be_named &&
		    read_pmu(sysfs, pmu, "events/", name, named, sizeof(named)) >= 0)
			r = place_terms(sysfs, pmu, named, false, config);
		else
			r = place_term(sysfs, pmu, name, value, config);
	}
	return r;
}

static int find_of_pmu(const char *sysfs, struct parts *parts, struct counter_event *ret)
{
	uint64_t type;
	char text[32];
	ssize_t n;
	int r;

	*ret = (struct counter_event){ .is_counted = true, .config = parts->config };
	if (!parse_number(parts->pmu, strlen(parts->pmu), &type)) {
		n = read_pmu(sysfs, parts->pmu, "type", "", text, sizeof(text));
		if (n < 0)
			return (int)n;
		if (!parse_number(text, strlen(text), &type))
			return -EBADMSG;
	}
	if (type > UINT32_MAX)
		return -ERANGE;
	ret->type = (uint32_t)type;
	if (!parts->terms[0])
		return 0;
	r = place_terms(sysfs, parts->pmu, parts->terms, true, &ret->config);
	return r;
}

int counter_event_stand_in(const char *sysfs, enum counter_use use, struct counter_event *ret)
{
	struct parts parts = { .pmu = "msr" };
	char text[TERMS_MAX];

	*ret = (struct counter_event){ 0 };
	if (!stand_ins[use] ||
	    read_pmu(sysfs, parts.pmu, "events/", stand_ins[use], text, sizeof(text)) < 0)
		return -ENOENT;
	memcpy(parts.terms, stand_ins[use], strlen(stand_ins[use]));
	return find_of_pmu(sysfs, &parts, ret);
}

int counter_event_find(const char *sysfs, const char *text, enum counter_use use,
		       struct counter_event *ret)
{
	struct parts parts;

	*ret = (struct counter_event){ 0 };
	if (strcmp(text, "none") == 0)
		return 0;
	if (strcmp(text, "auto") == 0)
		text = automatic[use];
	if (find_generic(text, ret))
		return 0;
	return split(text, &parts) ? find_of_pmu(sysfs, &parts, ret) : -EINVAL;
}
