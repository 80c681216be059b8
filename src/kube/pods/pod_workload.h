/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workload of a pod as the user created it: its Deployment instead of the current ReplicaSet,
 * its CronJob instead of the current Job. It is found from the pod object alone, so that no
 * permission to read ReplicaSets and Jobs is needed. Pure.
 *
 * | controller in ownerReferences                          | workload, workload_type           |
 * |--------------------------------------------------------|-----------------------------------|
 * | ReplicaSet NAME-HASH, and pod-template-hash is HASH    | NAME, Deployment                  |
 * | Job NAME-TIME, and TIME is about the pod's creation    | NAME, CronJob                     |
 * | anything else                                          | its name, its kind                |
 * | none, or the node: a static pod                        | name without "-NODE", StaticPod   |
 * | none                                                   | the pod's name, Pod               |
 *
 * TIME is what the CronJob controller appends: minutes since 1970 (8 digits; before Kubernetes 1.21
 * seconds, 10 digits). A Job that a user named import-20240101 does not match.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct pod_workload {
	char *name;       /* owned */
	const char *type; /* borrowed from the pod object, or static */
};

/* 0 or -ENOMEM. @pod is a Pod with a name in its metadata. */
int pod_workload_read(const json_t *pod, struct pod_workload *ret);
/*
 * The uid under which the kubelet made a static pod's cgroups, which the API server's mirror of it
 * shows only as an annotation; NULL if @pod is not such a mirror. Borrowed from @pod. It is trusted
 * only if the node owns the pod and both annotations agree, because any author of a pod can write
 * annotations.
 */
const char *pod_static_uid(const json_t *pod);
/* "2026-11-21T08:15:30Z" as seconds since 1970; 0 or -EINVAL. */
int pod_parse_time(const char *text, int64_t *ret_s);
