// SPDX-License-Identifier: Apache-2.0
/*
 * A rollout has no condition that shows whether it goes on: changed objects and young pods do. One
 * whose pods cannot be read is not said to stand still.
 */
#include "doctor/cluster/settling.h"

bool is_young(const struct cluster_facts *facts, double since_s)
{
	return facts->now_s - since_s < SETTLING_S;
}

bool pod_is_settling(const struct cluster_facts *facts, const struct cluster_node *node,
		     const struct cluster_pod *pod)
{
	return pod->is_ending || is_young(facts, node->settled_s) ||
	       is_young(facts, pod->created_s);
}

static long long number_at(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

bool rollout_is_open(const struct cluster_daemonset *set)
{
	const json_t *status = kube_at(set->object, "status", KUBE_END);
	const json_t *metadata = kube_at(set->object, "metadata", KUBE_END);

	return number_at(status, "observedGeneration") < number_at(metadata, "generation") ||
	       number_at(status, "updatedNumberScheduled") <
		       number_at(status, "desiredNumberScheduled");
}

static bool moves(const struct cluster_facts *facts, const struct cluster_node *node,
		  size_t daemonset)
{
	for (size_t p = 0; p < node->pod_count; p++) {
		const struct cluster_pod *pod = &node->pods[p];

		if (pod->daemonset == daemonset &&
		    (pod->is_ending || is_young(facts, pod->created_s)))
			return true;
	}
	return false;
}

bool rollout_goes_on(const struct cluster_facts *facts, size_t daemonset)
{
	const struct cluster_daemonset *set = &facts->daemonsets[daemonset];

	if (!rollout_is_open(set))
		return false;
	if (!set->pods_are_known || is_young(facts, set->changed_s))
		return true;
	for (size_t i = 0; i < facts->node_count; i++) {
		if (moves(facts, &facts->nodes[i], daemonset))
			return true;
	}
	return false;
}
