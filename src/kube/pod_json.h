/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One Pod object → what the directory of names wants to know of its containers. Pure.
 *
 * All containers that have an id: ordinary, init (sidecars among them) and ephemeral ones, and of
 * each the one before its last restart, whose energy may still be on its way. A pod that has none
 * of these yet is itself told of (DIRECTORY_POD_PREFIX), so that its energy has its name before its
 * containers have theirs. Fields are those of k8s.io/api/core/v1, types.go.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "kube/pod_labels.h"
#include "kube/pod_workload.h"
#include "workload/directory.h"

#define POD_STATUSES_MAX 256 /* of each of the three kinds */

struct pod {
	const char *uid; /* of the object: identifies the pod to its source */
	/* Strings are borrowed from the object, and from this struct. */
	struct container_names *containers;
	size_t count, size;
	struct pod_workload workload;
	struct pod_label_values *labels;
	size_t skipped;      /* containers: an id that is none, or beyond POD_STATUSES_MAX */
	struct strbuf alone; /* id of the record of a pod without containers */
};

/*
 * Reads @object; @labels says which labels to hand on. 0; -EINVAL: no Pod with uid, name and
 * namespace; -ENOMEM. A container whose id is not one is left out, and counted in the
 * pod. *ret borrows from @object and is written only on success.
 */
int pod_json_read(const json_t *object, const struct pod_labels *labels, struct pod *ret);
void pod_release(struct pod *pod);
