// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes come first, because pods and leases go to them. A kind that the server does not know (404)
 * is not a refusal.
 */
#include "doctor/cluster/cluster_reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "doctor/cluster/account_rights.h"
#include "doctor/cluster/page_reader.h"
#include "doctor/cluster/refusals.h"
#include "kube/json_bounded.h"
#include "net/http_url.h"
#include "options/version.h"

#define SMALL_MS        10000
#define SMALL_BYTES_MAX (1U << 20)
#define KEPT_MAX        2000 /* objects of a list that is kept as it is */
#define MONITORING      "/apis/monitoring.coreos.com/v1/"

/* A list that goes to the facts object by object. */
struct taking {
	struct cluster_facts *facts;
	size_t daemonset; /* of pods */
};

static int take_node(void *userdata, json_t *item)
{
	struct taking *taking = userdata;

	return cluster_facts_take_node(taking->facts, item);
}

static int take_daemonset(void *userdata, json_t *item)
{
	struct taking *taking = userdata;

	return cluster_facts_take_daemonset(taking->facts, item);
}

static int take_pod(void *userdata, json_t *item)
{
	struct taking *taking = userdata;

	return cluster_facts_take_pod(taking->facts, taking->daemonset, item);
}

static int take_lease(void *userdata, json_t *item)
{
	struct taking *taking = userdata;

	cluster_facts_take_lease(taking->facts, item,
				 (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC);
	return 0;
}

static int keep(void *userdata, json_t *item)
{
	json_t *array = userdata;

	if (json_array_size(array) == KEPT_MAX)
		return 0;
	return json_array_append(array, item) < 0 ? -ENOMEM : 0;
}

/* Lists @path; a failure is a refusal of @what in @ns. 0, or -ENOMEM. */
static int list(struct api_client *client, struct cluster_facts *facts, const char *path,
		const struct cluster_refusal *what, const char *ns, api_item_fn *item,
		void *userdata)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	int r = api_list(client, path, item, userdata, &answer);

	if (r < 0 && r != -ENOMEM && answer.status != 404)
		refusal_add(facts, what, ns, &answer);
	return r == -ENOMEM ? r : 0;
}

/* The same, kept as an array; *ret stays NULL if the list failed. */
static int list_kept(struct api_client *client, struct cluster_facts *facts, const char *path,
		     const struct cluster_refusal *what, const char *ns, json_t **ret)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	json_t *array = json_array();
	int r = array ? api_list(client, path, keep, array, &answer) : -ENOMEM;

	if (r == 0) {
		*ret = array;
		return 0;
	}
	json_decref(array);
	if (r != -ENOMEM && answer.status != 404)
		refusal_add(facts, what, ns, &answer);
	return r == -ENOMEM ? r : 0;
}

/* Is there an API server at all? Its version and its clock. */
static int read_version(struct api_client *client, struct cluster_facts *facts, struct diag *diag)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	int r = api_request(client, "/version", NULL, SMALL_MS, SMALL_BYTES_MAX, &answer);
	json_t *version;

	if (r < 0)
		return diag_set(diag, r, "the API server does not answer: %s", answer.error);
	if (answer.status == 401)
		return diag_set(diag, -EACCES,
				"the API server does not know the user of the kubeconfig: %s",
				answer.error);
	version = json_parse_bounded(answer.body.data ? answer.body.data : "", answer.body.len);
	(void)snprintf(facts->version, sizeof(facts->version), "%s",
		       kube_text(version, "gitVersion", KUBE_END));
	json_decref(version);
	facts->clock = answer.clock;
	return 0;
}

/* The labels by which a DaemonSet finds its pods, as a query; 0 or -ENOSPC. */
static int add_selector(const struct cluster_daemonset *set, char *buf, size_t size)
{
	json_t *labels = kube_at(set->object, "spec", "selector", "matchLabels", KUBE_END);
	char text[512] = "", *at = text;
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value)
	{
		const char *word = json_string_value(value);
		int len = snprintf(at, sizeof(text) - (size_t)(at - text), "%s%s=%s",
				   at > text ? "," : "", key, word ? word : "");

		if (len < 0 || (size_t)len >= sizeof(text) - (size_t)(at - text))
			return -ENOSPC;
		at += len;
	}
	return http_url_escape(text, buf, size);
}

static int read_pods(struct api_client *client, struct cluster_facts *facts, size_t daemonset)
{
	static const struct cluster_refusal what = {
		.resource = "pods", .subresource = "", .verb = "list", .group = ""
	};
	const struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	struct taking taking = { facts, daemonset };
	char selector[1536], path[2048];

	if (add_selector(set, selector, sizeof(selector)) < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods?labelSelector=%s", set->ns,
		       selector);
	return list(client, facts, path, &what, set->ns, take_pod, &taking);
}

/* Why the controller could not make pods, if its events report a reason. */
static int read_events(struct api_client *client, struct cluster_daemonset *set)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	json_t *events = json_array();
	char path[1024];

	if (!events)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path),
		       "/api/v1/namespaces/%s/events?fieldSelector=reason%%3DFailedCreate%%2C"
		       "involvedObject.name%%3D%s",
		       set->ns, set->name);
	(void)api_list(client, path, keep, events, &answer); /* they are only a help */
	(void)snprintf(set->create_error, sizeof(set->create_error), "%s",
		       kube_text(json_array_get(events, 0), "message", KUBE_END));
	json_decref(events);
	return 0;
}

static int read_daemonset(struct api_client *client, struct cluster_facts *facts, size_t daemonset)
{
	static const struct cluster_refusal what = {
		.resource = "services", .subresource = "", .verb = "list", .group = ""
	};
	struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	char path[512];
	int r = read_pods(client, facts, daemonset);

	if (r == 0)
		r = read_events(client, set);
	/* Services of one namespace are enough: Kepler is seldom in several. */
	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/services", set->ns);
	if (r == 0 && facts->has_operator && !facts->services)
		r = list_kept(client, facts, path, &what, set->ns, &facts->services);
	return r;
}

/* The kinds of the Prometheus operator, if the server knows them. */
static int read_operator(struct api_client *client, struct cluster_facts *facts)
{
	const struct {
		const char *path;
		struct cluster_refusal what;
		json_t **ret;
	} lists[] = {
		{ MONITORING "podmonitors",
		  { .resource = "podmonitors", .group = "monitoring.coreos.com" },
		  &facts->pod_monitors },
		{ MONITORING "servicemonitors",
		  { .resource = "servicemonitors", .group = "monitoring.coreos.com" },
		  &facts->service_monitors },
		{ MONITORING "prometheuses",
		  { .resource = "prometheuses", .group = "monitoring.coreos.com" },
		  &facts->prometheuses },
		{ "/apis/monitoring.coreos.com/v1alpha1/prometheusagents",
		  { .resource = "prometheusagents", .group = "monitoring.coreos.com" },
		  &facts->agents },
		{ "/api/v1/namespaces",
		  { .resource = "namespaces", .group = "" },
		  &facts->namespaces },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(lists); i++) {
		struct cluster_refusal what = lists[i].what;

		what.verb = "list";
		what.subresource = "";
		r = list_kept(client, facts, lists[i].path, &what, "", lists[i].ret);
	}
	facts->has_operator = facts->pod_monitors || facts->service_monitors;
	return r;
}

static int read_nodes(struct api_client *client, struct cluster_facts *facts)
{
	static const struct cluster_refusal nodes = {
		.resource = "nodes", .subresource = "", .verb = "list", .group = ""
	};
	static const struct cluster_refusal leases = { .resource = "leases",
						       .subresource = "",
						       .verb = "list",
						       .group = "coordination.k8s.io" };
	struct taking taking = { .facts = facts };
	int r = list(client, facts, "/api/v1/nodes", &nodes, "", take_node, &taking);

	if (r == 0)
		r = list(client, facts,
			 "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", &leases,
			 "kube-node-lease", take_lease, &taking);
	return r;
}

static int read_daemonsets(struct api_client *client, struct cluster_facts *facts)
{
	static const struct cluster_refusal what = {
		.resource = "daemonsets", .subresource = "", .verb = "list", .group = "apps"
	};
	struct taking taking = { .facts = facts };

	/* app.kubernetes.io/name in (kepler,kepler-exporter) */
	return list(client, facts,
		    "/apis/apps/v1/daemonsets?labelSelector=app.kubernetes.io%2Fname%20in%20"
		    "%28kepler%2Ckepler-exporter%29",
		    &what, "", take_daemonset, &taking);
}

int cluster_read(struct api_client *client, struct cluster_facts *facts, struct diag *diag)
{
	int r;

	(void)snprintf(facts->server, sizeof(facts->server), "%.255s", client->access->server);
	(void)snprintf(facts->own_version, sizeof(facts->own_version), "%s", KEPLER_VERSION);
	r = read_version(client, facts, diag);
	if (r < 0)
		return r;
	r = read_nodes(client, facts);
	if (r == 0)
		r = read_operator(client, facts);
	if (r == 0)
		r = read_daemonsets(client, facts);
	for (size_t i = 0; r == 0 && i < facts->daemonset_count; i++)
		r = read_daemonset(client, facts, i);
	if (r == 0)
		r = account_rights_read(client, facts);
	if (r == 0)
		r = page_reader_run(client, facts);
	return r < 0 ? diag_set(diag, r, "%s", strerrordesc_np(-r)) : 0;
}
