// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/energy_metric.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define CLASSIC_END "_joules_total"
#define CURRENT_END "_cpu_joules_total"
#define ACTIVE_END  "_cpu_active_joules_total"
#define RETIRED_END "_cpu_retired_joules_total"
#define CPU_END     "_bpf_cpu_time_ms_total"
#define SECONDS_END "_cpu_seconds_total"
#define GPU_BEGIN   "_gpu"
#define RAPL_BEGIN  "node_rapl_"
#define GPU_ZONE    "gpu"

static const char *const levels[ENERGY_LEVELS] = {
	[ENERGY_NODE] = "node",
	[ENERGY_NODE_ACTIVE] = "node, active",
	[ENERGY_PROCESS] = "process",
	[ENERGY_CONTAINER] = "container",
	[ENERGY_POD] = "pod",
	[ENERGY_VM] = "vm",
	[ENERGY_NAMESPACE] = "namespace",
};

const char *energy_level_name(enum energy_level level)
{
	return levels[level];
}

const char *exporter_kind_name(enum exporter_kind kind)
{
	static const char *const names[] = {
		[EXPORTER_UNKNOWN] = "unknown",      [EXPORTER_NODE_EXPORTER] = "node_exporter",
		[EXPORTER_KEPLER_C] = "Kepler in C", [EXPORTER_KEPLER_CLASSIC] = "classic Kepler",
		[EXPORTER_KEPLER] = "Kepler",        [EXPORTER_SCAPHANDRE] = "Scaphandre",
		[EXPORTER_ALUMET] = "Alumet",
	};

	return names[kind];
}

enum exporter_kind exporter_kind_of(const char *metric)
{
	/* The metrics of Kepler in C that no other exporter has; it may show classic ones, too. */
	if (strcmp(metric, "kepler_exporter_snapshot_timestamp_seconds") == 0)
		return EXPORTER_KEPLER_C;
	if (strcmp(metric, "kepler_node_cpu_joules_total") == 0)
		return EXPORTER_KEPLER;
	if (strcmp(metric, "kepler_node_package_joules_total") == 0 ||
	    strcmp(metric, "kepler_node_platform_joules_total") == 0)
		return EXPORTER_KEPLER_CLASSIC;
	if (strncmp(metric, "scaph_", 6) == 0)
		return EXPORTER_SCAPHANDRE;
	if (strstr(metric, "rapl_consumed_energy"))
		return EXPORTER_ALUMET;
	if (strncmp(metric, RAPL_BEGIN, strlen(RAPL_BEGIN)) == 0)
		return EXPORTER_NODE_EXPORTER;
	return EXPORTER_UNKNOWN;
}

bool exporter_reads_when_asked(enum exporter_kind kind)
{
	return kind == EXPORTER_SCAPHANDRE || kind == EXPORTER_NODE_EXPORTER;
}

enum exporter_kind exporter_kind_hint(const char *metric)
{
	if (strcmp(metric, "kepler_exporter_build_info") == 0 ||
	    strcmp(metric, "kepler_node_info") == 0)
		return EXPORTER_KEPLER_CLASSIC;
	if (strcmp(metric, "kepler_build_info") == 0 || strcmp(metric, "kepler_node_cpu_info") == 0)
		return EXPORTER_KEPLER;
	return EXPORTER_UNKNOWN;
}

static void set_zone(struct energy_metric *metric, const char *zone, size_t len)
{
	(void)snprintf(metric->zone, sizeof(metric->zone), "%.*s", (int)len, zone);
}

static bool ends_with(const char *name, const char *end, const char **ret)
{
	size_t len = strlen(name), end_len = strlen(end);

	if (len < end_len || strcmp(name + len - end_len, end) != 0)
		return false;
	*ret = name + len - end_len;
	return true;
}

/* Returns what follows "kepler_LEVEL" at the beginning of @name, or NULL. */
static const char *take_level(const char *name, enum energy_level *ret)
{
	if (strncmp(name, "kepler_", 7) != 0)
		return NULL;
	name += 7;
	for (int level = ENERGY_NODE; level < ENERGY_LEVELS; level++) {
		size_t len = strlen(levels[level]);

		if (level != ENERGY_NODE_ACTIVE && strncmp(name, levels[level], len) == 0) {
			*ret = (enum energy_level)level;
			return name + len;
		}
	}
	return NULL;
}

/* Matches energy that belongs to no row with labels; the zone is a label of the series. */
static bool find_kepler_rest(const struct page_series *series, const char *rest,
			     struct energy_metric *ret)
{
	const char *zone = page_label(series, "zone");

	if (!*zone)
		return false;
	set_zone(ret, zone, strlen(zone));
	if (strcmp(rest, "_unattributed_joules_total") == 0 && ret->level == ENERGY_NODE)
		ret->part = ENERGY_UNATTRIBUTED;
	else if (strcmp(rest, "_retired_joules_total") == 0)
		ret->part = ENERGY_GONE;
	else
		return false;
	return true;
}

static bool find_pending(const struct page_series *series, struct energy_metric *ret)
{
	const char *zone = page_label(series, "zone"), *level = page_label(series, "level");

	ret->part = ENERGY_GONE;
	set_zone(ret, zone, strlen(zone));
	for (int i = ENERGY_PROCESS; i < ENERGY_LEVELS; i++)
		if (strcmp(levels[i], level) == 0) {
			ret->level = (enum energy_level)i;
			return *zone;
		}
	return false;
}

/* Classic names: the zone is in the metric's name. */
static bool find_kepler(const struct page_series *series, struct energy_metric *ret)
{
	if (strcmp(series->name, "kepler_pending_joules") == 0)
		return find_pending(series, ret);
	const char *rest = take_level(series->name, &ret->level), *end;
	if (!rest)
		return false;
	if (strcmp(rest, CPU_END) == 0) {
		set_zone(ret, "cpu", 3);
		ret->unit = 1e-3;
		return true;
	}
	if (find_kepler_rest(series, rest, ret))
		return true;
	if (*rest != '_' || !ends_with(rest, CLASSIC_END, &end) || end <= rest + 1)
		return false;
	set_zone(ret, rest + 1, (size_t)(end - rest - 1));
	/* Zones are words; without a mode it is a current name, which has the same energy again. */
	return !strchr(ret->zone, '_') && *page_label(series, "mode");
}

/* GPUs have metrics of their own instead of a label; otherwise they are named like CPUs. */
static bool has_end(const char *rest, bool is_gpu, const char *cpu_end)
{
	size_t begin = strlen(GPU_BEGIN);

	return is_gpu ? strcmp(rest + begin, cpu_end + begin) == 0 : strcmp(rest, cpu_end) == 0;
}

/*
 * Kepler in C, under the current names alone: the active energy that rows do not show, or not yet.
 */
static bool find_current_rest(const struct page_series *series, const char *rest, bool is_gpu,
			      struct energy_metric *ret)
{
	const char *mode = page_label(series, "mode");

	if (rest && ret->zone[0] && has_end(rest, is_gpu, RETIRED_END)) {
		ret->part = ENERGY_GONE;
		return true;
	}
	if (strcmp(mode, "dynamic") != 0)
		return false;
	if (strcmp(series->name, "kepler_pending_joules") == 0)
		return find_pending(series, ret);
	return rest && ret->level == ENERGY_NODE && find_kepler_rest(series, rest, ret);
}

static bool find_current(const struct page_series *series, struct energy_metric *ret)
{
	const char *rest = take_level(series->name, &ret->level);
	const char *zone = page_label(series, "zone");

	/* With a mode, it is a classic name of the same energy. */
	bool is_gpu = rest && strncmp(rest, GPU_BEGIN, strlen(GPU_BEGIN)) == 0 &&
		      !*page_label(series, "mode");

	if (rest && ret->level >= ENERGY_PROCESS && strcmp(rest, SECONDS_END) == 0) {
		set_zone(ret, "cpu", 3);
		return true;
	}
	if (is_gpu)
		zone = GPU_ZONE;
	if (*zone)
		set_zone(ret, zone, strlen(zone));
	if (find_current_rest(series, rest, is_gpu, ret))
		return true;
	if (!rest || !*zone)
		return false;
	if (ret->level == ENERGY_NODE && has_end(rest, is_gpu, ACTIVE_END))
		ret->level = ENERGY_NODE_ACTIVE;
	else if (!has_end(rest, is_gpu, CURRENT_END))
		return false;
	return true;
}

/* The zone is in the metric's name, or with --collector.rapl.enable-zone-label a label. */
static bool find_node_exporter(const struct page_series *series, struct energy_metric *ret)
{
	const char *zone = page_label(series, "rapl_zone"), *end;

	if (strcmp(series->name, "node_rapl_joules_total") == 0) {
		set_zone(ret, zone, strlen(zone));
		return *zone;
	}
	if (strncmp(series->name, RAPL_BEGIN, strlen(RAPL_BEGIN)) != 0 ||
	    !ends_with(series->name, CLASSIC_END, &end))
		return false;
	zone = series->name + strlen(RAPL_BEGIN);
	if (end <= zone)
		return false;
	set_zone(ret, zone, (size_t)(end - zone));
	return true;
}

static bool find_scaphandre(const struct page_series *series, struct energy_metric *ret)
{
	const char *domain = page_label(series, "domain_name");

	ret->level = ENERGY_NODE;
	ret->unit = 1e-6;
	if (strcmp(series->name, "scaph_process_power_consumption_microwatts") == 0) {
		ret->level = ENERGY_PROCESS;
		ret->is_power = true;
		set_zone(ret, "total", 5);
		return true;
	}
	if (strcmp(series->name, "scaph_socket_energy_microjoules") == 0)
		domain = "package";
	else if (strcmp(series->name, "scaph_domain_energy_microjoules") != 0)
		return false;
	set_zone(ret, domain, strlen(domain));
	return *domain;
}

/*
 * The agent's configuration adds a prefix and a suffix to names, and the unit follows. The RAPL
 * plugin adds the sum of each domain as another domain, "DOMAIN_total".
 */
static bool find_alumet(const struct page_series *series, struct energy_metric *ret)
{
	const char *domain = page_label(series, "domain"), *end;
	bool is_process = strcmp(page_label(series, "resource_consumer_kind"), "process") == 0;

	ret->level = is_process ? ENERGY_PROCESS : ENERGY_NODE;
	ret->is_difference = true;
	if (strstr(series->name, "cpu_time_delta") && is_process) {
		ret->unit = strstr(series->name, "_nanoseconds") ? 1e-9 : 1;
		set_zone(ret, "cpu", 3);
		return true;
	}
	if (strstr(series->name, "attributed_energy") && is_process) {
		set_zone(ret, "total", 5);
		return true;
	}
	if (is_process || !strstr(series->name, "rapl_consumed_energy") || !*domain ||
	    ends_with(domain, "_total", &end))
		return false;
	set_zone(ret, domain, strlen(domain));
	return true;
}

bool energy_metric_find(enum exporter_kind kind, const struct page_series *series,
			struct energy_metric *ret)
{
	*ret = (struct energy_metric){ .unit = 1 };
	switch (kind) {
	case EXPORTER_KEPLER_C:
	case EXPORTER_KEPLER_CLASSIC:
		return find_kepler(series, ret);
	case EXPORTER_KEPLER:
		return find_current(series, ret);
	case EXPORTER_SCAPHANDRE:
		return find_scaphandre(series, ret);
	case EXPORTER_ALUMET:
		return find_alumet(series, ret);
	case EXPORTER_NODE_EXPORTER:
		return find_node_exporter(series, ret);
	case EXPORTER_UNKNOWN:
	case EXPORTER_KINDS:
		break;
	}
	return false;
}
