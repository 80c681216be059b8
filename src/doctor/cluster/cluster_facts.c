// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/cluster_facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/label_selector.h"

static void release_node(struct cluster_node *node)
{
	json_decref(node->labels);
	json_decref(node->taints);
	free(node->pods);
}

void cluster_facts_release(struct cluster_facts *facts)
{
	for (size_t i = 0; i < facts->node_count; i++)
		release_node(&facts->nodes[i]);
	free(facts->nodes);
	for (size_t i = 0; i < facts->daemonset_count; i++)
		json_decref(facts->daemonsets[i].object);
	json_decref(facts->pod_monitors.items);
	json_decref(facts->service_monitors.items);
	json_decref(facts->prometheuses.items);
	json_decref(facts->agents.items);
	json_decref(facts->namespaces.items);
	json_decref(facts->services.items);
	*facts = (struct cluster_facts){ .node_count = 0 };
}

struct cluster_node *cluster_facts_node(const struct cluster_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->node_count; i++) {
		if (strcmp(facts->nodes[i].name, name) == 0)
			return &facts->nodes[i];
	}
	return NULL;
}

/* The condition of that type, or NULL. */
static const json_t *condition(const json_t *object, const char *type)
{
	const json_t *conditions = kube_at(object, "status", "conditions", KUBE_END);

	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *one = json_array_get(conditions, i);

		if (strcmp(kube_text(one, "type", KUBE_END), type) == 0)
			return one;
	}
	return NULL;
}

static bool condition_is(const json_t *object, const char *type, const char *status)
{
	return strcmp(kube_text(condition(object, type), "status", KUBE_END), status) == 0;
}

/* When it came, or was ready again, as after its machine was started. */
static double settled_s(const json_t *node)
{
	return fmax(
		kube_time_s(kube_text(node, "metadata", "creationTimestamp", KUBE_END)),
		kube_time_s(kube_text(condition(node, "Ready"), "lastTransitionTime", KUBE_END)));
}

/* Room for one more at @count, which doubles: 0 or -ENOMEM. */
static int grow(void **array, size_t count, size_t size)
{
	void *more;

	if (count & (count - 1) || (count && count < 4))
		return 0;
	more = reallocarray(*array, count < 4 ? 4 : 2 * count, size);
	if (!more)
		return -ENOMEM;
	*array = more;
	return 0;
}

int cluster_facts_take_node(struct cluster_facts *facts, const json_t *node)
{
	const char *name = kube_text(node, "metadata", "name", KUBE_END);
	json_t *labels = kube_at(node, "metadata", "labels", KUBE_END);
	const char *system = kube_text(labels, "kubernetes.io/os", KUBE_END);
	struct cluster_node *new;

	if (!kube_is_name(name) || strlen(name) >= sizeof(new->name))
		return 0;
	if (facts->node_count == CLUSTER_NODES_MAX) {
		facts->nodes_left_out++;
		return 0;
	}
	if (grow((void **)&facts->nodes, facts->node_count, sizeof(*new)) < 0)
		return -ENOMEM;
	new = &facts->nodes[facts->node_count++];
	*new = (struct cluster_node){
		.is_ready = condition_is(node, "Ready", "True"),
		.is_linux = !*system || strcmp(system, "linux") == 0,
		.settled_s = settled_s(node),
		.labels = json_incref(labels),
		.taints = json_incref(kube_at(node, "spec", "taints", KUBE_END)),
		.lease_age_s = (double)NAN,
	};
	(void)snprintf(new->name, sizeof(new->name), "%s", name);
	(void)snprintf(new->kubelet, sizeof(new->kubelet), "%s",
		       kube_text(node, "status", "nodeInfo", "kubeletVersion", KUBE_END));
	return 0;
}

/* The container called "kepler", else the first. */
static const json_t *container_of(const json_t *containers)
{
	for (size_t i = 0; i < json_array_size(containers); i++) {
		const json_t *one = json_array_get(containers, i);

		if (strcmp(kube_text(one, "name", KUBE_END), "kepler") == 0)
			return one;
	}
	return json_array_get(containers, 0);
}

/* The port called "metrics" or "http", else the first. */
static void find_port(struct cluster_daemonset *set, const json_t *container)
{
	const json_t *ports = kube_at(container, "ports", KUBE_END),
		     *best = json_array_get(ports, 0);

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *one = json_array_get(ports, i);
		const char *name = kube_text(one, "name", KUBE_END);

		if (strcmp(name, "metrics") == 0 || strcmp(name, "http") == 0)
			best = one;
	}
	set->port = json_integer_value(kube_at(best, "containerPort", KUBE_END));
	set->port_name = kube_text(best, "name", KUBE_END);
	if (!set->port)
		set->port = 28282;
}

/* The last change of anything but the status, by whichever client; NaN: no client is known. */
static double changed_s(const json_t *object)
{
	const json_t *fields = kube_at(object, "metadata", "managedFields", KUBE_END);
	double last_s = (double)NAN;

	for (size_t i = 0; i < json_array_size(fields); i++) {
		const json_t *one = json_array_get(fields, i);

		if (!*kube_text(one, "subresource", KUBE_END))
			last_s = fmax(last_s, kube_time_s(kube_text(one, "time", KUBE_END)));
	}
	return last_s;
}

int cluster_facts_take_daemonset(struct cluster_facts *facts, json_t *daemonset)
{
	json_t *pod = kube_at(daemonset, "spec", "template", "spec", KUBE_END);
	const json_t *container = container_of(kube_at(pod, "containers", KUBE_END));
	struct cluster_daemonset *new;
	struct diag diag = { "" };

	if (!kube_is_name(kube_text(daemonset, "metadata", "name", KUBE_END)) ||
	    !kube_is_name(kube_text(daemonset, "metadata", "namespace", KUBE_END)) || !container)
		return 0;
	if (facts->daemonset_count == CLUSTER_DAEMONSETS_MAX) {
		facts->daemonsets_left_out++;
		return 0;
	}
	new = &facts->daemonsets[facts->daemonset_count++];
	*new = (struct cluster_daemonset){
		.object = json_incref(daemonset),
		.ns = kube_text(daemonset, "metadata", "namespace", KUBE_END),
		.name = kube_text(daemonset, "metadata", "name", KUBE_END),
		.account = kube_text(pod, "serviceAccountName", KUBE_END),
		.is_https = strcmp(kube_text(container, "readinessProbe", "httpGet", "scheme",
					     KUBE_END),
				   "HTTPS") == 0,
		.labels = kube_at(daemonset, "spec", "template", "metadata", "labels", KUBE_END),
		.pod_spec = pod,
		.container = container,
		.changed_s = changed_s(daemonset),
	};
	if (!*new->account)
		new->account = "default";
	find_port(new, container);
	return exporter_settings_read(container, NULL, 0, &new->settings, &diag);
}

/* The controller makes a pod for a node by its affinity; nodeName comes with the scheduler. */
static const char *node_of(const json_t *pod)
{
	const char *name = kube_text(pod, "spec", "nodeName", KUBE_END);
	const json_t *terms = kube_at(pod, "spec", "affinity", "nodeAffinity",
				      "requiredDuringSchedulingIgnoredDuringExecution",
				      "nodeSelectorTerms", KUBE_END);
	const json_t *field =
		json_array_get(kube_at(json_array_get(terms, 0), "matchFields", KUBE_END), 0);
	const char *wanted =
		json_string_value(json_array_get(kube_at(field, "values", KUBE_END), 0));

	return *name || !wanted ? name : wanted;
}

static void read_state(struct cluster_pod *new, const json_t *pod)
{
	const json_t *status = container_of(kube_at(pod, "status", "containerStatuses", KUBE_END));
	const json_t *waiting = kube_at(status, "state", "waiting", KUBE_END);
	const json_t *scheduled = condition(pod, "PodScheduled");
	const char *reason = kube_text(waiting, "reason", KUBE_END);
	const char *message = kube_text(waiting, "message", KUBE_END);
	const char *phase = kube_text(pod, "status", "phase", KUBE_END);

	new->has_ended = strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0;
	new->is_ending = kube_at(pod, "metadata", "deletionTimestamp", KUBE_END);
	new->created_s = kube_time_s(kube_text(pod, "metadata", "creationTimestamp", KUBE_END));
	new->runs = kube_at(status, "state", "running", KUBE_END);
	new->is_ready = new->runs &&json_is_true(kube_at(status, "ready", KUBE_END));
	new->restarts = json_integer_value(kube_at(status, "restartCount", KUBE_END));
	new->last_end_s =
		kube_time_s(kube_text(status, "lastState", "terminated", "finishedAt", KUBE_END));
	(void)snprintf(new->last_end, sizeof(new->last_end), "%s",
		       kube_text(status, "lastState", "terminated", "reason", KUBE_END));
	if (strcmp(kube_text(scheduled, "status", KUBE_END), "False") == 0) {
		reason = kube_text(scheduled, "reason", KUBE_END);
		message = kube_text(scheduled, "message", KUBE_END);
	}
	if (new->has_ended) {
		reason = kube_text(pod, "status", "reason", KUBE_END); /* "Evicted" */
		message = kube_text(pod, "status", "message", KUBE_END);
	}
	if (!new->runs && !*reason)
		reason = kube_text(status, "state", "terminated", "reason", KUBE_END);
	if (!new->runs && !*reason)
		reason = phase;
	if (!new->runs)
		(void)snprintf(new->reason, sizeof(new->reason), "%s",
			       *reason ? reason : "Pending");
	(void)snprintf(new->message, sizeof(new->message), "%s", message);
}

/*
 * Is it none of the DaemonSet's? Its selector does not select it; or it does, and so does the
 * selector of another DaemonSet, which controls the pod.
 */
static bool is_of_another(const struct cluster_daemonset *set, const json_t *pod)
{
	const json_t *selector = kube_at(set->object, "spec", "selector", KUBE_END);
	const json_t *labels = kube_at(pod, "metadata", "labels", KUBE_END);
	const json_t *owners = kube_at(pod, "metadata", "ownerReferences", KUBE_END);
	const char *uid = kube_text(set->object, "metadata", "uid", KUBE_END);

	if (!label_selector_matches(selector, labels))
		return true;
	for (size_t i = 0; *uid && i < json_array_size(owners); i++) {
		const json_t *owner = json_array_get(owners, i);

		if (json_is_true(kube_at(owner, "controller", KUBE_END)))
			return strcmp(kube_text(owner, "uid", KUBE_END), uid) != 0;
	}
	return false;
}

int cluster_facts_take_pod(struct cluster_facts *facts, size_t daemonset, const json_t *pod)
{
	const char *name = kube_text(pod, "metadata", "name", KUBE_END);
	struct cluster_node *node = cluster_facts_node(facts, node_of(pod));
	struct cluster_pod *new;

	if (!node || !kube_is_name(name) || strlen(name) >= sizeof(new->name) ||
	    is_of_another(&facts->daemonsets[daemonset], pod))
		return 0;
	if (grow((void **)&node->pods, node->pod_count, sizeof(*new)) < 0)
		return -ENOMEM;
	new = &node->pods[node->pod_count++];
	*new = (struct cluster_pod){ .daemonset = daemonset, .page_date_s = (double)NAN };
	(void)snprintf(new->name, sizeof(new->name), "%s", name);
	read_state(new, pod);
	return 0;
}

void cluster_facts_take_lease(struct cluster_facts *facts, const json_t *lease, double now_s)
{
	struct cluster_node *node =
		cluster_facts_node(facts, kube_text(lease, "metadata", "name", KUBE_END));

	if (node)
		node->lease_age_s =
			now_s - kube_time_s(kube_text(lease, "spec", "renewTime", KUBE_END));
}
