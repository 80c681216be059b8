// SPDX-License-Identifier: Apache-2.0
#include "engine/series_health.h"

#include <stdio.h>

#include "base/macro.h"

static bool fill_health(const void *owner, void *ret)
{
	*(struct series_health *)ret = *(const struct series_health *)owner;
	return true;
}

static void add(struct series_health *health, const char *table, uint64_t count)
{
	struct series_overflow *overflow = &health->overflows[health->overflow_count++];

	(void)snprintf(overflow->table, sizeof(overflow->table), "%s", table);
	overflow->count = count;
}

void series_health_count(struct series_health *health, const struct ledger *ledger,
			 uint64_t processes, uint64_t machines)
{
	health->overflow_count = 0;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		if (level == LEVEL_GROUPS) /* the order of pages so far */
			add(health, "machines", machines);
		add(health, level_info[level].words.plural,
		    ledger_overflows(ledger, level) + (level == LEVEL_PROCESS ? processes : 0));
	}
}

static const struct health_label table_label[] = {
	{ "table", offsetof(struct series_overflow, table) }, { 0 }
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
	  .array = HEALTH_ARRAY(struct series_health, overflows, overflow_count),
	  .labels = table_label,
	  .value = HEALTH_VALUE(struct series_overflow, count) },
};

const struct health_part series_health_part = {
	.size = sizeof(struct series_health),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
