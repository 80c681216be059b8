/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container in one component of a cgroup path, as the runtimes name it. Pure. The caller decides
 * whether runtimes put containers in that place (cgroup_path.c).
 */
#pragma once

#include <stdbool.h>

#include "workload/cgroup/cgroup_path_part.h"

struct cgroup_container {
	const char *runtime; /* static */
	const char *space; /* static: "", or "lxc/" where names, not digits, identify containers */
	struct part id;    /* digits or name */
	struct part slice; /* of "SLICE:cri-containerd:ID"; else empty */
};

/* A container by its own name: "docker-ID.scope", "libpod-payload-ID", "lxc.payload.NAME". */
bool cgroup_container_by_name(struct part part, struct cgroup_container *ret);
/*
 * A container by its name and its parent: "/docker/ID", "/lxc/NAME", "/kubepods/podU/ID",
 * "machine.slice/systemd-nspawn@NAME.service". An @parent of length 0 is the root.
 */
bool cgroup_container_by_place(struct part part, struct part parent, bool in_pod,
			       struct cgroup_container *ret);
