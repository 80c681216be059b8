// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/judge_rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define KUBELET_NAMES_MINOR 33 /* nodes/pods exists since Kubernetes 1.33 */

static bool is_allowed(const struct cluster_facts *facts, size_t daemonset, const char *verb,
		       const char *resource, const char *subresource)
{
	for (size_t i = 0; i < facts->right_count; i++) {
		const struct cluster_right *right = &facts->rights[i];

		if (right->daemonset == daemonset && right->is_known &&
		    strcmp(right->verb, verb) == 0 && strcmp(right->resource, resource) == 0 &&
		    strcmp(right->subresource, subresource) == 0)
			return right->is_allowed;
	}
	return false;
}

static bool rights_are_known(const struct cluster_facts *facts, size_t daemonset)
{
	bool some = false;

	for (size_t i = 0; i < facts->right_count; i++) {
		if (facts->rights[i].daemonset == daemonset && !facts->rights[i].is_known)
			return false;
		some |= facts->rights[i].daemonset == daemonset;
	}
	return some;
}

static void add_missing(const struct cluster_daemonset *set, const char *verb, const char *resource,
			const char *subresource, struct cluster_findings *findings)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "right-missing" };

	cluster_finding_name(&draft, "ServiceAccount", set->ns, set->account);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "may not %s %s%s%s, which kube.pods=%.20s needs", verb, resource,
		       *subresource ? "/" : "", subresource, set->settings.source);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "containers and pods stay without names; the ClusterRole in "
		       "deploy/kubernetes/overlays has the rule");
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl auth can-i %s %s%s%s --all-namespaces "
		       "--as=system:serviceaccount:%s:%s",
		       verb, resource, *subresource ? " --subresource=" : "", subresource, set->ns,
		       set->account);
	cluster_findings_add(findings, &draft, NULL);
}

/* 31 of "v1.31.4"; 0: no such version. */
static unsigned minor_of(const char *version)
{
	return strncmp(version, "v1.", 3) == 0 ? (unsigned)strtoul(version + 3, NULL, 10) : 0;
}

static void judge_kubelets(const struct cluster_facts *facts, size_t daemonset,
			   struct cluster_findings *findings)
{
	const struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "kubelet-too-old",
		.what = "names come from the kubelet, and a kubelet is older than 1.33",
		.why = "it does not know the permission nodes/pods and answers 403: use the "
		       "overlay "
		       "apiserver, or the component kubelet-before-1.33",
	};

	if (is_allowed(facts, daemonset, "get", "nodes", "proxy"))
		return;
	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s set env daemonset %s KEPLER_KUBE_PODS=apiserver", set->ns,
		       set->name);
	for (size_t i = 0; i < facts->node_count; i++) {
		unsigned minor = minor_of(facts->nodes[i].kubelet);

		if (minor && minor < KUBELET_NAMES_MINOR)
			cluster_findings_add(findings, &draft, facts->nodes[i].name);
	}
}

static void judge_account(const struct cluster_facts *facts, size_t daemonset,
			  struct cluster_findings *findings)
{
	const struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	bool lists = is_allowed(facts, daemonset, "list", "pods", "");
	bool watches = is_allowed(facts, daemonset, "watch", "pods", "");
	bool reads_kubelet = is_allowed(facts, daemonset, "get", "nodes", "pods") ||
			     is_allowed(facts, daemonset, "get", "nodes", "proxy");
	bool needs_kubelet = strcmp(set->settings.source, "kubelet") == 0;

	if (!rights_are_known(facts, daemonset) || strcmp(set->settings.source, "off") == 0)
		return;
	if (needs_kubelet && !reads_kubelet)
		add_missing(set, "get", "nodes", "pods", findings);
	if (needs_kubelet)
		judge_kubelets(facts, daemonset, findings);
	if (needs_kubelet || (reads_kubelet && strcmp(set->settings.source, "apiserver") != 0))
		return;
	if (!lists)
		add_missing(set, "list", "pods", "", findings);
	if (!watches)
		add_missing(set, "watch", "pods", "", findings);
}

static bool is_refused(const struct cluster_facts *facts, const char *resource)
{
	for (size_t i = 0; i < facts->refusal_count; i++) {
		if (strcmp(facts->refusals[i].resource, resource) == 0)
			return true;
	}
	return false;
}

static void judge_refusal(const struct cluster_refusal *refusal, struct cluster_findings *findings)
{
	bool is_essential = strcmp(refusal->resource, "nodes") == 0 ||
			    strcmp(refusal->resource, "daemonsets") == 0 ||
			    (strcmp(refusal->resource, "pods") == 0 && !*refusal->subresource);
	struct cluster_finding draft = { .level = is_essential ? FINDING_FAIL : FINDING_NOTE,
					 .id = "doctor-right-missing",
					 .object = "this doctor" };
	const char *slash = *refusal->subresource ? "/" : "", *dot = *refusal->group ? "." : "";

	if (strcmp(refusal->subresource, "proxy") == 0)
		draft.level = FINDING_FIX;
	(void)snprintf(draft.what, sizeof(draft.what), "may not %s %s%s%s%s%s", refusal->verb,
		       refusal->resource, slash, refusal->subresource, dot, refusal->group);
	if (refusal->status != 403) {
		draft.id = "doctor-request-failed";
		(void)snprintf(draft.what, sizeof(draft.what), "could not %s %s%s%s%s%s",
			       refusal->verb, refusal->resource, slash, refusal->subresource, dot,
			       refusal->group);
	}
	(void)snprintf(draft.why, sizeof(draft.why),
		       "the findings that depend on it are missing; the API server: %.200s",
		       refusal->message);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl auth can-i %s %s%s%s%s%s %s",
		       refusal->verb, refusal->resource, dot, refusal->group,
		       *refusal->subresource ? " --subresource=" : "", refusal->subresource,
		       *refusal->ns ? "-n " : "--all-namespaces");
	if (*refusal->ns)
		(void)snprintf(draft.command + strlen(draft.command),
			       sizeof(draft.command) - strlen(draft.command), "%s", refusal->ns);
	cluster_findings_add(findings, &draft, NULL);
}

static void judge_presence(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_FAIL,
		.id = "kepler-not-installed",
		.object = "cluster",
		.what = "there is no DaemonSet of Kepler",
		.why = "no DaemonSet has the label app.kubernetes.io/name with the value kepler or "
		       "kepler-exporter; docs/kubernetes.md has the way to install one",
		.command = "kubectl apply -k deploy/kubernetes/overlays/apiserver",
	};

	if (facts->daemonset_count == 0 && facts->daemonsets_are_known)
		cluster_findings_add(findings, &draft, NULL);
}

/* No finding depends on an object that is missing from a list that was cut. */
static void judge_cut_lists(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	const struct {
		const struct cluster_list *list;
		const char *kind, *depends;
	} lists[] = {
		{ &facts->pod_monitors, "podmonitors", "whether a monitor scrapes Kepler" },
		{ &facts->service_monitors, "servicemonitors", "whether a monitor scrapes Kepler" },
		{ &facts->prometheuses, "prometheuses", "whether a Prometheus takes a monitor" },
		{ &facts->agents, "prometheusagents", "whether a Prometheus takes a monitor" },
		{ &facts->namespaces, "namespaces", "which namespaces a Prometheus watches" },
		{ &facts->services, "services", "what ServiceMonitors scrape" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct cluster_finding draft = { .level = FINDING_NOTE,
						 .id = "not-examined",
						 .object = "this doctor" };

		if (lists[i].list->is_whole || !lists[i].list->items)
			continue;
		(void)snprintf(draft.what, sizeof(draft.what),
			       "read only the first %zu %s, or left out some that are too large",
			       json_array_size(lists[i].list->items), lists[i].kind);
		(void)snprintf(draft.why, sizeof(draft.why),
			       "it is not known %s: none is said to "
			       "be missing",
			       lists[i].depends);
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl get %s --all-namespaces", lists[i].kind);
		cluster_findings_add(findings, &draft, NULL);
	}
}

/* Pods of a list that was read, and was not whole. */
static void judge_unknown_pods(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "not-examined",
		.what = "some of its pods are too large to be read",
		.why = "no node is said to be without a pod",
	};

	for (size_t i = 0; i < facts->daemonset_count; i++) {
		const struct cluster_daemonset *set = &facts->daemonsets[i];

		if (set->pods_are_known || is_refused(facts, "pods"))
			continue;
		cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
		(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s get pods",
			       set->ns);
		cluster_findings_add(findings, &draft, NULL);
	}
}

static void judge_limits(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "not-examined",
		.object = "this doctor",
		.why = "its limits on nodes, bytes and time keep it from being a load; the nodes "
		       "that "
		       "it did not reach may have faults",
		.command = "kepler doctor --cluster --cluster-time=10m",
	};
	size_t sets = facts->daemonsets_left_out;

	if (facts->nodes_left_out + facts->pages_too_late + sets == 0)
		return;
	(void)snprintf(draft.what, sizeof(draft.what),
		       "did not examine %zu nodes, %zu pages and %zu DaemonSets",
		       facts->nodes_left_out, facts->pages_too_late, sets);
	cluster_findings_add(findings, &draft, NULL);
}

void judge_rights(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	judge_presence(facts, findings);
	for (size_t i = 0; i < facts->daemonset_count; i++)
		judge_account(facts, i, findings);
	for (size_t i = 0; i < facts->refusal_count; i++)
		judge_refusal(&facts->refusals[i], findings);
	judge_limits(facts, findings);
	judge_cut_lists(facts, findings);
	judge_unknown_pods(facts, findings);
}
