// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/judge_pods.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/label_selector.h"

#define NO_ENERGY "the energy of the node and of its pods is in no number"

static void name_daemonset(struct cluster_finding *finding, const struct cluster_daemonset *set)
{
	(void)snprintf(finding->object, sizeof(finding->object), "DaemonSet %s/%s", set->ns,
		       set->name);
}

/* Why it does not run, in groups that need different actions. */
static const struct {
	const char *reason, *what;
	const char *command; /* of kubectl, with -n NAMESPACE before and the pod after it */
} reasons[] = {
	{ "CrashLoopBackOff", "its process ends again and again", "logs --previous" },
	{ "Error", "its process has failed", "logs --previous" },
	{ "OOMKilled", "its process used more memory than its limit", "logs --previous" },
	{ "ImagePullBackOff", "its image cannot be pulled", "describe pod" },
	{ "ErrImagePull", "its image cannot be pulled", "describe pod" },
	{ "ErrImageNeverPull", "its image is not on the node, and may not be pulled",
	  "describe pod" },
	{ "InvalidImageName", "its image has an invalid name", "describe pod" },
	{ "CreateContainerConfigError", "its configuration refers to an object that is missing",
	  "describe pod" },
	{ "Unschedulable", "it cannot be scheduled", "describe pod" },
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
	name_daemonset(&draft, set);
	(void)snprintf(draft.what, sizeof(draft.what), "a pod does not run: %s (%s)", what,
		       pod->reason);
	(void)snprintf(draft.why, sizeof(draft.why), NO_ENERGY "%s%s",
		       pod->message[0] ? "; Kubernetes: " : "", pod->message);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s %s %s", set->ns,
		       command, pod->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void judge_running(const struct cluster_daemonset *set, const struct cluster_node *node,
			  const struct cluster_pod *pod, struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_FIX };

	name_daemonset(&draft, set);
	if (strcmp(pod->last_end, "OOMKilled") == 0) {
		draft.id = "pod-out-of-memory";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a pod was restarted because its memory limit was reached");
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"its counters began again at 0, and the energy since its last scrape "
			"is lost (%lld restarts)",
			pod->restarts);
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s set resources daemonset %s --limits=memory=512Mi",
			       set->ns, set->name);
		cluster_findings_add(findings, &draft, node->name);
	}
	if (!pod->is_ready && node->is_ready) {
		draft.id = "pod-not-ready";
		(void)snprintf(draft.what, sizeof(draft.what), "a pod runs and is not ready");
		(void)snprintf(draft.why, sizeof(draft.why),
			       "/readyz fails: a scrape through the Service leaves the node out");
		(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s logs %s",
			       set->ns, pod->name);
		cluster_findings_add(findings, &draft, node->name);
	}
}

/* A node on which no DaemonSet has a pod: why @set has none. */
static void judge_absence(const struct cluster_daemonset *set, const struct cluster_node *node,
			  struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_FIX,
					 .id = "node-without-pod",
					 .why = NO_ENERGY };
	const json_t *taint = taint_against(node->taints, set->tolerations);

	name_daemonset(&draft, set);
	if (!labels_have(node->labels, set->node_selector)) {
		(void)snprintf(draft.what, sizeof(draft.what),
			       "no pod on a node: its nodeSelector does not select the node");
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get daemonset %s -o "
			       "jsonpath={.spec.template.spec.nodeSelector}",
			       set->ns, set->name);
	} else if (taint) {
		const char *value = kube_text(taint, "value", KUBE_END);

		(void)snprintf(draft.what, sizeof(draft.what),
			       "no pod on a node: the taint %.100s%s%.60s:%s is not tolerated",
			       kube_text(taint, "key", KUBE_END), *value ? "=" : "", value,
			       kube_text(taint, "effect", KUBE_END));
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s patch daemonset %s --type=merge -p "
			       "'{\"spec\":{\"template\":{\"spec\":{\"tolerations\":[{\"operator\":"
			       "\"Exists\"}]}}}}'",
			       set->ns, set->name);
	} else {
		(void)snprintf(draft.what, sizeof(draft.what),
			       "no pod on a node, although it may run there");
		(void)snprintf(draft.why, sizeof(draft.why), NO_ENERGY "%s%s",
			       set->create_error[0] ? "; Kubernetes: " : "", set->create_error);
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s describe daemonset %s", set->ns, set->name);
	}
	cluster_findings_add(findings, &draft, node->name);
}

/*
 * There may be several DaemonSets, as for nodes with and without GPUs: the one that selects the
 * node should have a pod there.
 */
static const struct cluster_daemonset *daemonset_for(const struct cluster_facts *facts,
						     const struct cluster_node *node)
{
	for (size_t i = 0; i < facts->daemonset_count; i++) {
		if (labels_have(node->labels, facts->daemonsets[i].node_selector))
			return &facts->daemonsets[i];
	}
	return &facts->daemonsets[0];
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

static void judge_node(const struct cluster_facts *facts, const struct cluster_node *node,
		       struct cluster_findings *findings)
{
	size_t running = 0;

	if (!node->is_linux)
		return;
	if (!node->is_ready)
		judge_not_ready(node, findings);
	for (size_t i = 0; i < node->pod_count; i++) {
		const struct cluster_pod *pod = &node->pods[i];
		const struct cluster_daemonset *set = &facts->daemonsets[pod->daemonset];

		running += pod->runs;
		if (pod->runs)
			judge_running(set, node, pod, findings);
		else if (node->is_ready)
			judge_reason(set, node, pod, findings);
	}
	if (running > 1)
		judge_two(node, findings);
	if (node->pod_count == 0 && node->is_ready)
		judge_absence(daemonset_for(facts, node), node, findings);
}

static void judge_daemonset(const struct cluster_daemonset *set, struct cluster_findings *findings)
{
	const json_t *status = kube_at(set->object, "status", KUBE_END);
	long long generation =
		json_integer_value(kube_at(set->object, "metadata", "generation", KUBE_END));
	long long observed = json_integer_value(kube_at(status, "observedGeneration", KUBE_END));
	long long desired = json_integer_value(kube_at(status, "desiredNumberScheduled", KUBE_END));
	long long updated = json_integer_value(kube_at(status, "updatedNumberScheduled", KUBE_END));
	struct cluster_finding draft = { .level = FINDING_FIX };

	name_daemonset(&draft, set);
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s rollout status daemonset %s --timeout=60s", set->ns,
		       set->name);
	if (observed < generation) {
		draft.id = "daemonset-not-observed";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "its last change has not been seen by its controller");
		(void)snprintf(draft.why, sizeof(draft.why),
			       "the cluster's controller manager does not run, or is behind");
	} else if (updated < desired) {
		draft.id = "daemonset-not-updated";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "%lld of %lld pods have its newest template", updated, desired);
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"a rollout is in progress, or a pod that does not become ready stops "
			"it");
	} else {
		return;
	}
	cluster_findings_add(findings, &draft, NULL);
}

void judge_pods(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	if (facts->daemonset_count == 0)
		return;
	for (size_t i = 0; i < facts->daemonset_count; i++)
		judge_daemonset(&facts->daemonsets[i], findings);
	for (size_t i = 0; i < facts->node_count; i++)
		judge_node(facts, &facts->nodes[i], findings);
}
