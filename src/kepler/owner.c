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

struct process_ref process_ref_of(const struct activity_sample *sample)
{
	return (struct process_ref){
		.pid = sample->key.pid,
		.start_ns = sample->key.start_ns,
		.cgroup_id = sample->cgroup_id,
		.comm = sample->comm,
		.kthread = sample->flags & ACTIVITY_KTHREAD,
		.cgroup_set = sample->cgroup_set,
		.exe = !(sample->flags & ACTIVITY_EXE_READ)    ? PROCESS_EXE_UNKNOWN
		       : (sample->flags & ACTIVITY_HYPERVISOR) ? PROCESS_EXE_HYPERVISOR
							       : PROCESS_EXE_OTHER,
	};
}
