// SPDX-License-Identifier: Apache-2.0
#include "engine/series_health.h"

#include "base/macro.h"

static bool fill_health(const void *owner, void *ret)
{
	*(struct series_health *)ret = *(const struct series_health *)owner;
	return true;
}

#define OVERFLOWS(level) HEALTH_VALUE(struct series_health, overflows[level])

static const struct health_variant overflows[] = {
	{ "processes", OVERFLOWS(LEVEL_PROCESS) },
	{ "containers", OVERFLOWS(LEVEL_CONTAINER) },
	{ "machines", HEALTH_VALUE(struct series_health, machine_overflows) },
	{ "pods", OVERFLOWS(LEVEL_POD) },
	{ "vms", OVERFLOWS(LEVEL_VM) },
	{ "namespaces", OVERFLOWS(LEVEL_NAMESPACE) },
	{ 0 },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_scrape_clients",
	  .type = FAMILY_GAUGE,
	  .help = "Clients that have scraped at least twice in the last ten minutes. "
		  "--metrics.settle=auto uses the longest gap between two scrapes by one of them.",
	  .value = HEALTH_VALUE(struct series_health, scrape_clients) },
	{ .name = "kepler_exporter_scrape_clients_forgotten",
	  .type = FAMILY_COUNTER,
	  .help = "Scrape clients dropped from the table because it was full. For the next ten "
		  "minutes a new series settles for at least a minute.",
	  .value = HEALTH_VALUE(struct series_health, scrape_clients_forgotten) },
	{ .name = "kepler_exporter_series_limit",
	  .type = FAMILY_GAUGE,
	  .help = "Limit on the series of rows in one response, in each schema "
		  "(--metrics.max-series).",
	  .value = HEALTH_VALUE(struct series_health, max_series) },
	{ .name = "kepler_exporter_table_overflows",
	  .type = FAMILY_COUNTER,
	  .help = "Times that a process, container, pod, VM or namespace did not fit into a "
		  "table; its use is in a row \"other\". table=\"machines\": times that a process "
		  "that may be a virtual machine was not examined; it belongs to its cgroup.",
	  .variant_label = "table",
	  .variants = overflows },
};

const struct health_part series_health_part = {
	.size = sizeof(struct series_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
