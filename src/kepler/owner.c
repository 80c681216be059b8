// SPDX-License-Identifier: Apache-2.0
#include "kepler/owner.h"

struct ledger_owner ledger_owner_of(const struct identity *identity)
{
	return (struct ledger_owner){
		.container_id = identity->container_id,
		.container_name = identity->container_name,
		.container_namespace = identity->container_namespace,
		.pod_name = identity->pod_name,
		.runtime = identity->runtime,
		.pod_id = identity->pod_id,
		.workload = identity->workload,
		.workload_type = identity->workload_type,
		.pod_labels = identity->pod_labels,
		.vm_id = identity->vm_id,
		.vm_name = identity->vm_name,
		.hypervisor = identity->hypervisor,
		.size_millicpu = identity->size_millicpu,
		.labels_version = identity->labels_version,
		.waiting = identity->waiting,
		.has_pod_names = identity->has_pod_names,
		.pod_qos = identity->pod_qos,
	};
}
