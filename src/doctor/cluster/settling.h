/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does something change by itself? A node that has just joined, a pod that starts or ends, a
 * rollout in progress: these are worth a note, and nothing is to be fixed. Pure.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"

#define SETTLING_S 300.0 /* a node, a pod or a change that is younger is given time */

/* It is younger than SETTLING_S; a time that is unknown (NaN) is long ago. */
bool is_young(const struct cluster_facts *facts, double since_s);
/* Nothing that is missing on such a pod, or fails, is held against it yet. */
bool pod_is_settling(const struct cluster_facts *facts, const struct cluster_node *node,
		     const struct cluster_pod *pod);
/* Has a DaemonSet pods of an earlier template, or a change that its controller has not seen? */
bool rollout_is_open(const struct cluster_daemonset *set);
/* It has, and something has happened to it, or to one of its pods, within SETTLING_S. */
bool rollout_goes_on(const struct cluster_facts *facts, size_t daemonset);
