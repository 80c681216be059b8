// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/cluster_facts.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"

static json_t *walk(const json_t *object, const char *key, va_list ap)
{
	json_t *at = json_object_get(object, key);

	for (key = va_arg(ap, const char *); at && key; key = va_arg(ap, const char *))
		at = json_object_get(at, key);
	return at;
}

json_t *kube_at(const json_t *object, const char *key, ...)
{
	json_t *found;
	va_list ap;

	va_start(ap, key);
	found = walk(object, key, ap);
	va_end(ap);
	return found;
}

const char *kube_text(const json_t *object, const char *key, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, key);
	text = json_string_value(walk(object, key, ap));
	va_end(ap);
	return text ? text : "";
}

double kube_time_s(const char *text)
{
	struct tm tm = { .tm_isdst = 0 };
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	double fraction = 0, scale = 0.1;

	if (!end)
		return (double)NAN;
	if (*end == '.') {
		for (end++; *end >= '0' && *end <= '9'; end++, scale /= 10)
			fraction += (*end - '0') * scale;
	}
	return strcmp(end, "Z") == 0 ? (double)timegm(&tm) + fraction : (double)NAN;
}

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
	json_decref(facts->pod_monitors);
	json_decref(facts->service_monitors);
	json_decref(facts->prometheuses);
	json_decref(facts->agents);
	json_decref(facts->namespaces);
	json_decref(facts->services);
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

	if (!*name || strlen(name) >= sizeof(new->name))
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

/* The value of an option in the container's arguments, else in its environment; "auto". */
static const char *setting_of(const json_t *container, const char *flag, const char *variable)
{
	const json_t *lists[] = { kube_at(container, "command", KUBE_END),
				  kube_at(container, "args", KUBE_END) };
	const json_t *env = kube_at(container, "env", KUBE_END);

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; i < json_array_size(lists[l]); i++) {
			const char *word = json_string_value(json_array_get(lists[l], i));

			if (word && strncmp(word, flag, strlen(flag)) == 0)
				return word + strlen(flag);
		}
	}
	for (size_t i = 0; i < json_array_size(env); i++) {
		const json_t *one = json_array_get(env, i);

		if (strcmp(kube_text(one, "name", KUBE_END), variable) == 0)
			return kube_text(one, "value", KUBE_END);
	}
	return "auto";
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

int cluster_facts_take_daemonset(struct cluster_facts *facts, json_t *daemonset)
{
	json_t *pod = kube_at(daemonset, "spec", "template", "spec", KUBE_END);
	const json_t *container = container_of(kube_at(pod, "containers", KUBE_END));
	struct cluster_daemonset *new;

	if (!*kube_text(daemonset, "metadata", "name", KUBE_END) ||
	    !*kube_text(daemonset, "metadata", "namespace", KUBE_END) || !container)
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
		.source = setting_of(container, "--kube.pods=", "KEPLER_KUBE_PODS"),
		.settle = setting_of(container, "--metrics.settle=", "KEPLER_METRICS_SETTLE"),
		.is_https = strcmp(kube_text(container, "readinessProbe", "httpGet", "scheme",
					     KUBE_END),
				   "HTTPS") == 0,
		.labels = kube_at(daemonset, "spec", "template", "metadata", "labels", KUBE_END),
		.tolerations = kube_at(pod, "tolerations", KUBE_END),
		.node_selector = kube_at(pod, "nodeSelector", KUBE_END),
	};
	if (!*new->account)
		new->account = "default";
	find_port(new, container);
	return 0;
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

	new->runs = kube_at(status, "state", "running", KUBE_END);
	new->is_ready = new->runs &&json_is_true(kube_at(status, "ready", KUBE_END));
	new->restarts = json_integer_value(kube_at(status, "restartCount", KUBE_END));
	(void)snprintf(new->last_end, sizeof(new->last_end), "%s",
		       kube_text(status, "lastState", "terminated", "reason", KUBE_END));
	if (strcmp(kube_text(scheduled, "status", KUBE_END), "False") == 0) {
		reason = kube_text(scheduled, "reason", KUBE_END);
		message = kube_text(scheduled, "message", KUBE_END);
	}
	if (!new->runs && !*reason)
		reason = kube_text(status, "state", "terminated", "reason", KUBE_END);
	if (!new->runs && !*reason)
		reason = kube_text(pod, "status", "phase", KUBE_END);
	if (!new->runs)
		(void)snprintf(new->reason, sizeof(new->reason), "%s",
			       *reason ? reason : "Pending");
	(void)snprintf(new->message, sizeof(new->message), "%s", message);
}

int cluster_facts_take_pod(struct cluster_facts *facts, size_t daemonset, const json_t *pod)
{
	const char *name = kube_text(pod, "metadata", "name", KUBE_END);
	struct cluster_node *node = cluster_facts_node(facts, node_of(pod));
	struct cluster_pod *new;

	if (!node || !*name || strlen(name) >= sizeof(new->name) ||
	    kube_at(pod, "metadata", "deletionTimestamp", KUBE_END))
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
