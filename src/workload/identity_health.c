// SPDX-License-Identifier: Apache-2.0
#include "workload/identity_health.h"

#include "base/macro.h"
#include "workload/identity.h"

static bool fill_health(const void *owner, void *ret)
{
	identity_resolver_get_info(owner, ret);
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_process_reads_outstanding",
	  .type = FAMILY_GAUGE,
	  .help = "Reads of processes' command lines and cgroups that have not returned yet. They "
		  "can hang, so they run on separate threads. Until the read returns, the process "
		  "belongs to its cgroup or, if the cgroup is being read, to its last owner or "
		  "the system.",
	  .value = HEALTH_VALUE(struct identity_info, reads_outstanding) },
	{ .name = "kepler_exporter_process_reads_late",
	  .type = FAMILY_COUNTER,
	  .help = "Reads of processes' command lines and cgroups that took longer than a second.",
	  .value = HEALTH_VALUE(struct identity_info, reads_late) },
};

const struct health_part identity_health_part = {
	.size = sizeof(struct identity_info),
	.fill = fill_health,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
