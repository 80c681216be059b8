// SPDX-License-Identifier: Apache-2.0
#include "engine/node_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "host/cpuinfo.h"
#include "options/version.h"

void node_facts_init(struct snapshot_node *node, const struct host_info *host, double start_time_s)
{
	(void)snprintf(node->version, sizeof(node->version), "%s", KEPLER_VERSION);
	(void)snprintf(node->revision, sizeof(node->revision), "%s", KEPLER_REVISION);
	(void)snprintf(node->node_name, sizeof(node->node_name), "%s", host->node_name);
	(void)snprintf(node->cpu_architecture, sizeof(node->cpu_architecture), "%s",
		       host->cpu_architecture);
	(void)snprintf(node->kernel, sizeof(node->kernel), "%s", host->kernel);
	node->cpus = host->cpus;
	memcpy(node->cpu_vendor, host->cpu_vendor, sizeof(node->cpu_vendor));
	memcpy(node->cpu_model, host->cpu_model, sizeof(node->cpu_model));
	node->start_time_s = start_time_s;
}

struct snapshot_cpu *node_facts_cpus(struct snapshot_node *node, const char *procfs)
{
	CLEANUP_FREE struct cpuinfo_cpu *cpus = NULL;
	struct snapshot_cpu *list;
	size_t count = 0;

	_Static_assert(CPU_NUMBER_NONE == SNAPSHOT_CPU_UNKNOWN, "a copy is as good");
	if (host_cpus_read(procfs, &cpus, &count) < 0)
		return NULL;
	list = calloc(count + 1, sizeof(*list));
	for (size_t i = 0; list && i < count; i++)
		list[i] = (struct snapshot_cpu){ cpus[i].processor, cpus[i].package, cpus[i].core };
	node->cpu_list = list;
	node->cpu_list_count = list ? (uint32_t)count : 0;
	return list;
}
