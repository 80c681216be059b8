/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects a selector of Kubernetes selects, and on which nodes a DaemonSet may run
 * (k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelector; "Taints and Tolerations" in its
 * documentation). Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/*
 * A LabelSelector, with matchLabels and matchExpressions: NULL or null selects nothing, an empty
 * one everything. An unknown operator selects nothing. @labels may be NULL: no labels.
 */
bool label_selector_matches(const json_t *selector, const json_t *labels);
/* True if @labels have each pair of @wanted, as with nodeSelector; NULL wants nothing. */
bool labels_have(const json_t *labels, json_t *wanted);
/*
 * The first taint of @taints that keeps the pods of a DaemonSet with @tolerations off a node, or
 * NULL. The taints that its controller itself tolerates do not.
 */
const json_t *taint_against(const json_t *taints, const json_t *tolerations);
