// SPDX-License-Identifier: Apache-2.0
#include "attribution/level_info.h"

#define NO_LABELS LABEL_GROUP_COUNT

const struct level_info level_info[LEVEL_COUNT] = {
	[LEVEL_PROCESS] = { "process" },
	[LEVEL_CONTAINER] = { "container", LABEL_CONTAINER_ID, LABEL_CONTAINER_NAME },
	[LEVEL_POD] = { "pod", LABEL_POD_ID, LABEL_POD_NAME, LABELS_OF_POD, LABELS_OF_POD_FACTS },
	[LEVEL_VM] = { "vm", LABEL_VM_ID, LABEL_VM_NAME, LABELS_OF_VM, NO_LABELS,
		       .awaits_owner_names = true },
	[LEVEL_NAMESPACE] = { "namespace", LABEL_NAMESPACE, LABEL_NAMESPACE, NO_LABELS, NO_LABELS,
			      .takes_all = true },
};

uint32_t level_keys(enum level level)
{
	const struct level_info *info = &level_info[level];

	return info->named == NO_LABELS ? LABEL_BIT(info->id) : label_group_keys(info->named);
}
