// SPDX-License-Identifier: Apache-2.0
#include "energy/label_info.h"

#include <stddef.h>

const struct label_info label_info[LABEL_KEY_COUNT] = {
	[LABEL_CONTAINER_ID] = { "container_id", NULL, LABELS_OF_OWNER, .is_id = true },
	[LABEL_CONTAINER_NAME] = { "container_name", NULL, LABELS_OF_OWNER },
	[LABEL_RUNTIME] = { "runtime", NULL, LABELS_OF_OWNER, .is_class = true },
	[LABEL_NAMESPACE] = { "container_namespace", "namespace", LABELS_OF_POD, .is_said = true },
	[LABEL_POD_NAME] = { "pod_name", NULL, LABELS_OF_POD, .is_said = true },
	[LABEL_POD_ID] = { "pod_id", NULL, LABELS_OF_POD, .is_said = true, .is_id = true },
	[LABEL_WORKLOAD] = { "workload", NULL, LABELS_OF_POD, .is_said = true },
	[LABEL_WORKLOAD_TYPE] = { "workload_type", NULL, LABELS_OF_POD, .is_said = true,
				  .is_class = true },
	[LABEL_QOS_CLASS] = { "qos_class", NULL, LABELS_OF_POD_FACTS, .is_said = true,
			      .is_class = true },
	[LABEL_VM_ID] = { "vm_id", NULL, LABELS_OF_VM, .is_id = true },
	[LABEL_VM_NAME] = { "vm_name", NULL, LABELS_OF_VM },
	[LABEL_HYPERVISOR] = { "hypervisor", NULL, LABELS_OF_VM, .is_class = true },
};

uint32_t label_group_keys(enum label_group group)
{
	uint32_t keys = group == LABELS_OF_POD ? LABELS_EXTRA : 0;

	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++)
		keys |= label_info[key].group == group ? LABEL_BIT(key) : 0;
	return keys;
}

uint32_t labels_said(void)
{
	uint32_t keys = LABELS_EXTRA;

	for (enum label_key key = 0; key < LABEL_KEY_COUNT; key++)
		keys |= label_info[key].is_said ? LABEL_BIT(key) : 0;
	return keys;
}
