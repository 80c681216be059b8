// SPDX-License-Identifier: Apache-2.0
#include "attribution/level_info.h"

#define NO_LABELS LABEL_GROUP_COUNT

const struct level_info level_info[LEVEL_COUNT] = {
	[LEVEL_PROCESS] = { "process",
			    { "processes", "process",
			      "the process; pid=\"\" and command=\"other\": the container's "
			      "processes without their own series",
			      "the process", "the container's processes" },
			    .has_work = true },
	[LEVEL_CONTAINER] = { "container",
			      { "containers", "container",
				"the container's processes, ended ones included",
				"the container's processes", "containers of this namespace" },
			      .has_work = true,
			      LABEL_CONTAINER_ID,
			      LABEL_CONTAINER_NAME },
	[LEVEL_POD] = { "pod",
			{ "pods", "pod", "the pod's containers, restarted and ended ones included",
			  "the pod", "pods of this namespace" },
			.has_work = true,
			LABEL_POD_ID,
			LABEL_POD_NAME,
			LABELS_OF_POD,
			LABELS_OF_POD_FACTS },
	[LEVEL_VM] = { "vm",
		       { "vms", "virtual machine",
			 "the virtual machine: its vCPU, I/O and vhost threads",
			 "the virtual machine", "virtual machines" },
		       .has_work = true,
		       LABEL_VM_ID,
		       LABEL_VM_NAME,
		       LABELS_OF_VM,
		       NO_LABELS,
		       .awaits_owner_names = true },
	/* Its counters are the sums of its containers'. */
	[LEVEL_NAMESPACE] = { "namespace",
			      { "namespaces", "namespace",
				"the containers and services of the namespace", "the namespace",
				"namespaces" },
			      .has_work = false,
			      LABEL_NAMESPACE,
			      LABEL_NAMESPACE,
			      NO_LABELS,
			      NO_LABELS,
			      .takes_all = true },
};

const struct option_choice level_choices[LEVEL_COUNT + 1] = {
	{ "process", LEVEL_PROCESS }, { "container", LEVEL_CONTAINER }, { "pod", LEVEL_POD },
	{ "vm", LEVEL_VM },           { "namespace", LEVEL_NAMESPACE }, { 0 }
};

uint32_t level_keys(enum level level)
{
	const struct level_info *info = &level_info[level];

	return info->named == NO_LABELS ? LABEL_BIT(info->id) : label_group_keys(info->named);
}
