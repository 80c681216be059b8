/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container and the pod that this program runs in, from where each is known:
 *
 * /proc/self/cgroup: the container's id, 64 hexadecimal digits, and "pod" with the pod's uid. A
 * container with a cgroup namespace of its own shows neither.
 * /proc/self/mountinfo: what is mounted at /etc/hosts, /etc/hostname and /dev/termination-log is a
 * file of the pod (".../pods/UID/...") or, without a pod, of the container
 * (".../containers/ID/...").
 * The environment: POD_UID, POD_NAME and POD_NAMESPACE, which a manifest sets by the downward API.
 */
#pragma once

struct own_container {
	char id[65];
	char pod_uid[40];
	char pod_name[256];
	char namespace[256];
};

/* Unknown texts are "". @procfs is "/proc". */
void own_container_find(const char *procfs, struct own_container *ret);
