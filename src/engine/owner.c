// SPDX-License-Identifier: Apache-2.0
#include "engine/owner.h"

struct ledger_owner ledger_owner_of(const struct identity *identity)
{
	return (struct ledger_owner){
		.names = identity->names,
		.size_millicpu = identity->size_millicpu,
		.waiting = identity->waiting,
		.has_pod_names = identity->has_pod_names,
		.bearer_ns = identity->bearer_ns,
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
		.has_ended = sample->flags & ACTIVITY_ENDED,
		.exe = !(sample->flags & ACTIVITY_EXE_READ)    ? PROCESS_EXE_UNKNOWN
		       : (sample->flags & ACTIVITY_HYPERVISOR) ? PROCESS_EXE_HYPERVISOR
							       : PROCESS_EXE_OTHER,
	};
}
