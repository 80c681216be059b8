/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does a pod belong to, as people think of it? Its Deployment rather than the ReplicaSet of
 * this week, its CronJob rather than the Job of this minute. From the pod object alone: nobody has
 * to be allowed to read ReplicaSets and Jobs. Pure.
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
 * seconds, 10 digits). A Job that a person named import-20240101 is not taken for one.
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
 * shows only as an annotation; NULL where @pod is no such mirror. Borrowed from @pod. Believed only
 * where the node owns the pod and both annotations agree: annotations alone anybody may write.
 */
const char *pod_static_uid(const json_t *pod);
/* "2026-11-21T08:15:30Z" as seconds since 1970; 0 or -EINVAL. */
int pod_parse_time(const char *text, int64_t *ret_s);
