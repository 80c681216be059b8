/* SPDX-License-Identifier: Apache-2.0 */
/* The uid of a pod in a component of a cgroup path, as the kubelet writes it. Pure. */
#pragma once

#include <stdbool.h>

#include "workload/cgroup/cgroup_path_part.h"

#define POD_UID_MAX 37 /* with its terminator */

/* "kubepods": the directory for pods of the kubelet's cgroupfs driver. */
bool cgroup_is_kubepods(struct part part);
/*
 * "kubepods-burstable-pod<uid with underscores>.slice" (systemd driver, also behind a prefix of the
 * cgroup root: "kubelet-kubepods-…"), or below "kubepods" (@in_kubepods) "pod<uid>". A static pod's
 * uid is 32 digits without dashes. The uid is written with dashes.
 */
bool cgroup_pod_find(struct part part, bool in_kubepods, char ret_uid[POD_UID_MAX]);
