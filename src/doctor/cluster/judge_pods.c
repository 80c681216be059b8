// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/judge_pods.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/node_fit.h"
#include "doctor/cluster/settling.h"
#include "kube/quantity.h"

#define OUT_OF_MEMORY_S (24 * 3600.0)
#define NO_ENERGY       "the energy of the node and of its pods is in no number"

/* Why it does not run, in groups that need different actions. */
static const struct {
	const char *reason, *what;
	const char *command; /* of kubectl, with -n NAMESPACE before and the pod after it */
	bool may_pass;       /* as while others make room */
} reasons[] = {
	{ "CrashLoopBackOff", "its process ends again and again", "logs --previous", false },
	{ "Error", "its process has failed", "logs --previous", false },
	{ "OOMKilled", "its process used more memory than its limit", "logs --previous", false },
	{ "ImagePullBackOff", "its image cannot be pulled", "describe pod", false },
	{ "ErrImagePull", "its image cannot be pulled", "describe pod", false },
	{ "ErrImageNeverPull", "its image is not on the node, and may not be pulled",
	  "describe pod", false },
	{ "InvalidImageName", "its image has an invalid name", "describe pod", false },
	{ "CreateContainerConfigError", "its configuration refers to an object that is missing",
	  "describe pod", false },
	{ "Unschedulable", "it cannot be scheduled", "describe pod", true },
	{ "Evicted", "the node had no room for it", "describe pod", false },
};

static void judge_reason(const struct cluster_daemonset *set, const struct cluster_node *node,
			 const struct cluster_pod *pod, struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "pod-not-running" };
	const char *what = "it is waiting", *command = "describe pod";

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (strcmp(pod->reason, reasons[i].reason) == 0) {
			what = reasons[i].what;
			command = reasons[i].command;
		}
	}
	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.what, sizeof(draft.what), "a pod does not run: %s (%s)", what,
		       pod->reason);
	(void)snprintf(draft.why, sizeof(draft.why), NO_ENERGY "%s%s",
		       pod->message[0] ? "; Kubernetes: " : "", pod->message);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s %s %s", set->ns,
		       command, pod->name);
	cluster_findings_add(findings, &draft, node->name);
}

/* Neither waits for the kubelet only, nor for other pods. */
static bool has_failed(const struct cluster_pod *pod)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (strcmp(pod->reason, reasons[i].reason) == 0)
			return !reasons[i].may_pass;
	}
	return false;
}

static void note_settling(const struct cluster_daemonset *set, const struct cluster_node *node,
			  const char *id, const char *what, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = id,
		.why = "it is not judged until it has had five minutes",
	};

	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.what, sizeof(draft.what), "%s", what);
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s get pods -o wide --field-selector spec.nodeName=%s", set->ns,
		       node->name);
	cluster_findings_add(findings, &draft, node->name);
}

/* Twice its limit, so that the command never lowers it; without one it is not this DaemonSet's. */
static void raise_memory(const struct cluster_daemonset *set, const struct cluster_pod *pod,
			 struct cluster_finding *draft)
{
	const char *limit = kube_text(set->container, "resources", "limits", "memory", KUBE_END);
	uint64_t milli;

	if (quantity_parse_milli(limit, &milli) == 0 && milli)
		(void)snprintf(draft->command, sizeof(draft->command),
			       "kubectl -n %s set resources daemonset %s -c %s "
			       "--limits=memory=%" PRIu64 "Mi",
			       set->ns, set->name, kube_text(set->container, "name", KUBE_END),
			       milli / (1000U << 19) + (milli % (1000U << 19) != 0));
	else
		(void)snprintf(draft->command, sizeof(draft->command),
			       "kubectl -n %s describe pod %s", set->ns, pod->name);
}

static void judge_memory(const struct cluster_facts *facts, const struct cluster_daemonset *set,
			 const struct cluster_node *node, const struct cluster_pod *pod,
			 struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "pod-out-of-memory",
		.what = "a pod was restarted because its memory limit was reached",
	};

	/* One that ended before that has been mended, or was an exception. */
	if (strcmp(pod->last_end, "OOMKilled") != 0 ||
	    !(facts->now_s - pod->last_end_s < OUT_OF_MEMORY_S))
		return;
	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "its counters began again at 0, and the energy since its last scrape is "
		       "lost (%lld restarts)",
		       pod->restarts);
	raise_memory(set, pod, &draft);
	cluster_findings_add(findings, &draft, node->name);
}

static void judge_not_ready_pod(const struct cluster_daemonset *set,
				const struct cluster_node *node, const struct cluster_pod *pod,
				struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "pod-not-ready",
		.what = "a pod runs and is not ready",
		.why = "/readyz fails: a scrape through the Service leaves the node out",
	};

	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s logs %s", set->ns,
		       pod->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void judge_pod(const struct cluster_facts *facts, const struct cluster_node *node,
		      const struct cluster_pod *pod, struct cluster_findings *findings)
{
	const struct cluster_daemonset *set = &facts->daemonsets[pod->daemonset];
	bool fails = !pod->runs && has_failed(pod);

	if (pod->is_ending) {
		note_settling(set, node, "pod-ending", "a pod is ending", findings);
		return;
	}
	if (pod->runs)
		judge_memory(facts, set, node, pod, findings);
	if (pod->is_ready || !node->is_ready)
		return;
	if (is_young(facts, node->settled_s) || (is_young(facts, pod->created_s) && !fails))
		note_settling(set, node, "pod-starting", "a pod is starting", findings);
	else if (pod->runs)
		judge_not_ready_pod(set, node, pod, findings);
	else
		judge_reason(set, node, pod, findings);
}

static void say_excluded(const struct cluster_daemonset *set, const struct cluster_node *node,
			 const char *what, struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_NOTE,
					 .id = "node-excluded",
					 .why = NO_ENERGY ", as it was asked for" };

	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.what, sizeof(draft.what), "%s", what);
	(void)snprintf(
		draft.command, sizeof(draft.command),
		"kubectl -n %s get daemonset %s -o "
		"jsonpath='{.spec.template.spec.nodeSelector}{.spec.template.spec.affinity}'",
		set->ns, set->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void say_tainted(const struct cluster_daemonset *set, const struct cluster_node *node,
			const json_t *taint, struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_FIX,
					 .id = "node-without-pod",
					 .why = NO_ENERGY };
	const char *value = kube_text(taint, "value", KUBE_END);

	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "no pod on a node: the taint %.100s%s%.60s:%s is not tolerated",
		       kube_text(taint, "key", KUBE_END), *value ? "=" : "", value,
		       kube_text(taint, "effect", KUBE_END));
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s patch daemonset %s --type=merge -p "
		       "'{\"spec\":{\"template\":{\"spec\":{\"tolerations\":[{\"operator\":"
		       "\"Exists\"}]}}}}'",
		       set->ns, set->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void say_absent(const struct cluster_daemonset *set, const struct cluster_node *node,
		       struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "node-without-pod",
		.what = "no pod on a node, although it may run there",
	};

	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.why, sizeof(draft.why), NO_ENERGY "%s%s",
		       set->create_error[0] ? "; Kubernetes: " : "", set->create_error);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s describe daemonset %s",
		       set->ns, set->name);
	cluster_findings_add(findings, &draft, node->name);
}

/*
 * There may be several DaemonSets, as for nodes with and without GPUs: one that asks for the node,
 * and tolerates its taints if there is such a one, should have a pod there. -1: none asks for it.
 */
static int daemonset_for(const struct cluster_facts *facts, const struct cluster_node *node)
{
	int best = -1;

	for (size_t i = 0; i < facts->daemonset_count; i++) {
		const json_t *spec = facts->daemonsets[i].pod_spec;

		if (!node_is_wanted(spec, node->name, node->labels))
			continue;
		if (!taint_against(node->taints, kube_at(spec, "tolerations", KUBE_END)))
			return (int)i;
		if (best < 0)
			best = (int)i;
	}
	return best;
}

/* A node without a pod of any DaemonSet, all of whose pods are known. */
static void judge_absence(const struct cluster_facts *facts, const struct cluster_node *node,
			  struct cluster_findings *findings)
{
	int index = daemonset_for(facts, node);
	const struct cluster_daemonset *set = &facts->daemonsets[index < 0 ? 0 : index];
	const json_t *taint =
		taint_against(node->taints, kube_at(set->pod_spec, "tolerations", KUBE_END));

	if (index < 0)
		say_excluded(set, node,
			     "no pod on a node, which its nodeSelector or its "
			     "nodeAffinity excludes",
			     findings);
	else if (taint && taint_is_of_virtual_node(taint))
		say_excluded(set, node, "no pod on a virtual node, which has no machine to measure",
			     findings);
	else if (is_young(facts, node->settled_s))
		note_settling(set, node, "node-new", "a new node has no pod yet", findings);
	else if (taint)
		say_tainted(set, node, taint, findings);
	else if (rollout_goes_on(facts, (size_t)index))
		note_settling(set, node, "pod-starting", "a pod is being replaced", findings);
	else
		say_absent(set, node, findings);
}

static void judge_two(const struct cluster_node *node, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "node-measured-twice",
		.object = "cluster",
		.what = "several Keplers run on one node",
		.why = "each counts all energy of the node: sums over the cluster have it several "
		       "times",
	};

	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl get pods -A -o wide --field-selector spec.nodeName=%s", node->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void judge_not_ready(const struct cluster_node *node, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "node-not-ready",
		.object = "cluster",
		.what = "a node is not ready",
		.why = "its kubelet does not report to the API server, so nothing is known about "
		       "its "
		       "Kepler",
	};

	(void)snprintf(draft.command, sizeof(draft.command), "kubectl describe node %s",
		       node->name);
	cluster_findings_add(findings, &draft, node->name);
}

/* Runs, and goes on running. */
static bool is_lasting(const struct cluster_pod *pod)
{
	return pod->runs && !pod->is_ending && !pod->has_ended;
}

/* A rollout may start a pod before it ends the one of the earlier template. */
static bool has_several(const struct cluster_facts *facts, const struct cluster_node *node)
{
	const struct cluster_pod *first = NULL;

	for (size_t i = 0; i < node->pod_count; i++) {
		const struct cluster_pod *pod = &node->pods[i];

		if (!is_lasting(pod))
			continue;
		if (first &&
		    (first->daemonset != pod->daemonset || !rollout_goes_on(facts, pod->daemonset)))
			return true;
		first = pod;
	}
	return false;
}

/* Without all DaemonSets and all of their pods, a node without one may have one. */
static bool pods_are_known(const struct cluster_facts *facts)
{
	bool known = facts->daemonsets_are_known && facts->daemonsets_left_out == 0;

	for (size_t i = 0; i < facts->daemonset_count; i++)
		known &= facts->daemonsets[i].pods_are_known;
	return known;
}

static void judge_node(const struct cluster_facts *facts, const struct cluster_node *node,
		       struct cluster_findings *findings)
{
	if (!node->is_linux)
		return;
	if (!node->is_ready)
		judge_not_ready(node, findings);
	for (size_t i = 0; i < node->pod_count; i++) {
		/* Another one took the place of one that has ended. */
		if (!node->pods[i].has_ended || node->pod_count == 1)
			judge_pod(facts, node, &node->pods[i], findings);
	}
	if (has_several(facts, node))
		judge_two(node, findings);
	if (node->pod_count == 0 && node->is_ready && pods_are_known(facts))
		judge_absence(facts, node, findings);
}

static bool has_old_pods(const json_t *status)
{
	const json_t *current = kube_at(status, "currentNumberScheduled", KUBE_END);

	return !current || json_integer_value(kube_at(status, "updatedNumberScheduled", KUBE_END)) <
				   json_integer_value(current);
}

static void judge_daemonset(const struct cluster_facts *facts, size_t index,
			    struct cluster_findings *findings)
{
	const struct cluster_daemonset *set = &facts->daemonsets[index];
	const json_t *status = kube_at(set->object, "status", KUBE_END);
	long long generation =
		json_integer_value(kube_at(set->object, "metadata", "generation", KUBE_END));
	long long observed = json_integer_value(kube_at(status, "observedGeneration", KUBE_END));
	bool on_delete = strcmp(kube_text(set->object, "spec", "updateStrategy", "type", KUBE_END),
				"OnDelete") == 0;
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "daemonset-not-updated",
		.why = "a pod that does not become ready stops the rollout",
	};

	if (!rollout_is_open(set))
		return;
	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.what, sizeof(draft.what), "%lld of %lld pods have its newest template",
		       json_integer_value(kube_at(status, "updatedNumberScheduled", KUBE_END)),
		       json_integer_value(kube_at(status, "desiredNumberScheduled", KUBE_END)));
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s rollout status daemonset %s --timeout=60s", set->ns,
		       set->name);
	if (rollout_goes_on(facts, index) || (on_delete && observed >= generation)) {
		draft.level = FINDING_NOTE;
		draft.id = "rollout-in-progress";
		(void)snprintf(draft.why, sizeof(draft.why), "%s",
			       on_delete ? "its updateStrategy is OnDelete: a pod is replaced when "
					   "it is deleted"
					 : "it, or one of its pods, has changed within the last "
					   "five minutes");
	} else if (observed >= generation && !has_old_pods(status)) {
		return; /* some are missing: a finding about their nodes */
	} else if (observed < generation) {
		draft.id = "daemonset-not-observed";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "its last change has not been seen by its controller");
		(void)snprintf(draft.why, sizeof(draft.why),
			       "the cluster's controller manager does not run, or is behind");
	}
	cluster_findings_add(findings, &draft, NULL);
}

void judge_pods(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	if (facts->daemonset_count == 0)
		return;
	for (size_t i = 0; i < facts->daemonset_count; i++)
		judge_daemonset(facts, i, findings);
	for (size_t i = 0; i < facts->node_count; i++)
		judge_node(facts, &facts->nodes[i], findings);
}
