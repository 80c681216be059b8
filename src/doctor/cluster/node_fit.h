/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which nodes may a DaemonSet have a pod? As its controller decides it: nodeSelector, the
 * required terms of nodeAffinity, and taints (k8s.io/component-helpers/scheduling/corev1,
 * nodeaffinity; "Taints and Tolerations" in the documentation of Kubernetes). Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Does the specification of a pod ask for such a node? NULL asks for every one. */
bool node_is_wanted(const json_t *pod_spec, const char *node_name, const json_t *node_labels);
/*
 * The first taint of @taints that keeps the pods of a DaemonSet with @tolerations off a node, or
 * NULL. The taints that its controller itself tolerates do not.
 */
const json_t *taint_against(const json_t *taints, const json_t *tolerations);
/* Is it the taint of a node without a machine, on which no pod of a DaemonSet can run? */
bool taint_is_of_virtual_node(const json_t *taint);
