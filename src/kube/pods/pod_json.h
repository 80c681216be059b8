/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Pod object → the facts about its containers for the directory of names. Pure.
 *
 * All containers that have an id: ordinary, init (sidecars among them) and ephemeral ones, and of
 * each also the one before its last restart, because its energy may still arrive. A pod without any
 * of these yet is reported itself (DIRECTORY_POD_PREFIX), so that its energy has the pod's name
 * before its containers have ids. Fields are those of k8s.io/api/core/v1, types.go.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "kube/pods/pod_labels.h"
#include "kube/pods/pod_workload.h"
#include "workload/name_directory.h"

#define POD_STATUSES_MAX 256 /* of each of the three kinds */

struct pod {
	const char *uid; /* of the object: identifies the pod to its source */
	/* Strings are borrowed from the object, and from this struct. */
	struct container_names *containers;
	size_t count, size;
	struct pod_workload workload;
	struct pod_label_values *labels;
	size_t skipped;      /* containers: invalid id, or beyond POD_STATUSES_MAX */
	struct strbuf alone; /* id of the record of a pod without containers */
};

/*
 * Reads @object; @labels are the labels to show. 0; -EINVAL: not a Pod with uid, name and
 * namespace; -ENOMEM. A container with an invalid id is left out, and counted in the pod. *ret
 * borrows from @object and is written only on success.
 */
int pod_json_read(const json_t *object, const struct pod_labels *labels, struct pod *ret);
void pod_release(struct pod *pod);
