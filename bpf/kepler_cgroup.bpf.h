/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The cgroup of a task, in the hierarchy that user space has chosen: each hierarchy of v1 has ids
 * of its own.
 */
#pragma once

#include "kepler_core.bpf.h"

/* Set before load. */
const volatile __s32 cgroup_controller = -1; /* our enum cgroup_subsys_id, -1: the v2 hierarchy */

#define CONTROLLER_INDEX(name)                                                                     \
	case name:                                                                                 \
		return bpf_core_enum_value_exists(enum cgroup_subsys_id, name)                     \
			       ? (__s32)bpf_core_enum_value(enum cgroup_subsys_id, name)           \
			       : -1

/*
 * Where the running kernel keeps the wanted v1 controller, or -1. The verifier folds this into a
 * constant.
 */
static __always_inline __s32 controller_index(void)
{
	switch (cgroup_controller) {
		CONTROLLER_INDEX(cpuset_cgrp_id);
		CONTROLLER_INDEX(cpu_cgrp_id);
		CONTROLLER_INDEX(cpuacct_cgrp_id);
		CONTROLLER_INDEX(io_cgrp_id);
		CONTROLLER_INDEX(memory_cgrp_id);
		CONTROLLER_INDEX(devices_cgrp_id);
		CONTROLLER_INDEX(freezer_cgrp_id);
		CONTROLLER_INDEX(net_cls_cgrp_id);
		CONTROLLER_INDEX(perf_event_cgrp_id);
		CONTROLLER_INDEX(net_prio_cgrp_id);
		CONTROLLER_INDEX(hugetlb_cgrp_id);
		CONTROLLER_INDEX(pids_cgrp_id);
	}
	return -1;
}

static __always_inline __u64 cgroup_id_in(struct css_set *set)
{
	struct cgroup_subsys_state *state = NULL;
	struct cgroup *cgroup;
	__s32 index = controller_index();

	if (index < 0)
		return BPF_CORE_READ(set, dfl_cgrp, kn, id);
	bpf_probe_read_kernel(&state, sizeof(state),
			      (const char *)set + bpf_core_field_offset(struct css_set, subsys) +
				      (__u32)index * sizeof(state));
	cgroup = BPF_CORE_READ(state, cgroup);
	return BPF_CORE_READ(cgroup, kn, id);
}
