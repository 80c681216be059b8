/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual machine in a component of a cgroup path: libvirt, Proxmox, Firecracker. Pure. */
#pragma once

#include <stdbool.h>

#include "workload/cgroup/cgroup_path_part.h"

#define VM_NAME_MAX 128

struct cgroup_vm {
	const char *hypervisor; /* static: "qemu", "cloud-hypervisor", "firecracker" */
	char name[VM_NAME_MAX]; /* as the manager calls it, cut; not empty */
};

/* Returns true if a manager of VMs made @part, which lies in @parent in @grandparent. */
bool cgroup_vm_find(struct part part, struct part parent, struct part grandparent,
		    struct cgroup_vm *ret);
