// SPDX-License-Identifier: Apache-2.0
#include "samples/metric_kind.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/macro.h"
#include "base/num.h"

static const char *const level_prefixes[METRIC_LEVEL_COUNT] = {
	[METRIC_CONTAINER] = "kepler_container_",
	[METRIC_PROCESS] = "kepler_process_",
	[METRIC_VM] = "kepler_vm_",
	[METRIC_NODE] = "kepler_node_",
};

/* Returns the text after @prefix if @text begins with it, else NULL. */
static const char *behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* Copies @name without @suffix to @ret; false if it ends differently, or is too long. */
static bool without(const char *name, const char *suffix, char ret[static METRIC_FEATURE_MAX])
{
	size_t len = strlen(name), end = strlen(suffix);

	if (len <= end || len - end >= METRIC_FEATURE_MAX || strcmp(name + len - end, suffix) != 0)
		return false;
	memcpy(ret, name, len - end);
	ret[len - end] = '\0';
	return true;
}

/* The kind of a zone of the current exporter: "package-0" and "Package" are packages. */
static bool component_of_zone(const char *zone, char ret[static METRIC_FEATURE_MAX])
{
	size_t len = strcspn(zone, "-");

	if (len == 0 || len >= METRIC_FEATURE_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		ret[i] = (char)(zone[i] >= 'A' && zone[i] <= 'Z' ? zone[i] + ('a' - 'A') : zone[i]);
	ret[len] = '\0';
	return true;
}

static bool find_power(const struct series_labels *labels, const char *name,
		       struct metric_kind *ret)
{
	const char *rest = behind(name, "kepler_node_");

	ret->subject = METRIC_POWER;
	if (strcmp(name, "kepler_platform_watts") == 0) {
		memcpy(ret->name, "platform", sizeof("platform"));
		ret->is_gauge = true;
		ret->rank = 2;
		return true;
	}
	if (rest && strcmp(rest, "cpu_joules_total") == 0) {
		ret->rank = 1;
		return component_of_zone(series_label(labels, "zone"), ret->name);
	}
	/* Leaves out sums, parts of other zones, and computed energy. */
	return rest && without(rest, "_joules_total", ret->name) && !strstr(rest, "_active_") &&
	       !strstr(rest, "_idle_") && !behind(rest, "unattributed_") &&
	       strcmp(ret->name, "other") != 0;
}

static bool find_node_fact(const char *name, struct metric_kind *ret)
{
	if (strcmp(name, "kepler_node_cpu_scaling_frequency_hertz") == 0)
		ret->subject = METRIC_FREQUENCY;
	else if (strcmp(name, "kepler_node_node_info") == 0)
		ret->subject = METRIC_NODE_TYPE;
	else if (strcmp(name, "kepler_node_cpu_steal_seconds_total") == 0)
		ret->subject = METRIC_STEAL;
	else
		return false;
	ret->is_gauge = ret->subject != METRIC_STEAL;
	return true;
}

static bool find_feature(const char *name, enum metric_level level, struct metric_kind *ret)
{
	const char *rest = behind(name, level_prefixes[level]);

	if (!rest || strstr(rest, "joules") || behind(rest, "retired_") ||
	    behind(rest, "unattributed_"))
		return false;
	ret->subject = METRIC_FEATURE;
	if (strcmp(rest, "cpu_seconds_total") == 0) {
		memcpy(ret->name, "bpf_cpu_time_ms", sizeof("bpf_cpu_time_ms"));
		ret->factor = 1000;
		ret->rank = 1;
		return true;
	}
	return without(rest, "_total", ret->name);
}

void metric_kind_find(const struct series_labels *labels, enum metric_level level,
		      struct metric_kind *ret)
{
	const char *name = series_label(labels, "__name__");
	struct metric_kind kind = { .factor = 1 };

	if (find_power(labels, name, &kind)) {
		*ret = kind;
		return;
	}
	kind = (struct metric_kind){ .factor = 1 };
	if (find_node_fact(name, &kind) || find_feature(name, level, &kind)) {
		*ret = kind;
		return;
	}
	*ret = (struct metric_kind){ .subject = METRIC_IGNORED };
}

bool metric_is_collected(const char *name)
{
	const char *rest = behind(name, "kepler_");

	return rest && !behind(rest, "exporter_") && !strstr(rest, "_retired_") &&
	       !behind(rest, "pending_");
}

/* The first number in a text. */
static bool find_number(const char *text, uint32_t *ret)
{
	size_t begin = strcspn(text, "0123456789");
	size_t len = strspn(text + begin, "0123456789");
	uint64_t number;

	if (!len || parse_u64(text + begin, len, &number) < 0 || number >= UINT32_MAX)
		return false;
	*ret = (uint32_t)number;
	return true;
}

uint32_t metric_package(const struct series_labels *labels)
{
	static const char *const names[] = { "package", "zone", "path" };
	bool gpu = strstr(series_label(labels, "__name__"), "_gpu_");
	uint32_t number;

	if (gpu && (find_number(series_label(labels, "gpu"), &number) ||
		    find_number(series_label(labels, "index"), &number)))
		return number;
	if (gpu) /* a board is known by its UUID alone */
		return (uint32_t)hash64_text(HASH64_START, series_label(labels, "package")) >> 1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (find_number(series_label(labels, names[i]), &number))
			return number;
	}
	return 0;
}

static bool is_rapl(const char *source)
{
	return strcmp(source, "rapl") == 0 || strcmp(source, "intel_rapl") == 0 ||
	       strcmp(source, "rapl-sysfs") == 0;
}

bool metric_source_matches(const char *source, const char *wanted)
{
	return !*source || strcmp(source, wanted) == 0 || (is_rapl(source) && is_rapl(wanted));
}

void metric_owner(const struct series_labels *labels, enum metric_level level, char *ret,
		  size_t size)
{
	static const char *const names[METRIC_LEVEL_COUNT][5] = {
		[METRIC_CONTAINER] = { "container_id", "pod_name", "container_name",
				       "container_namespace" },
		[METRIC_PROCESS] = { "container_id", "pid", "command" },
		[METRIC_VM] = { "vm_id", "vm_name" },
	};
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; names[level][i]; i++) {
		int more = snprintf(ret + len, size - len, "%s%s", i ? "/" : "",
				    series_label(labels, names[level][i]));

		if (more < 0 || (size_t)more >= size - len)
			return;
		len += (size_t)more;
	}
}
