// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes come first, because pods and leases go to them. A kind that the server does not know (404)
 * is not a refusal.
 */
#include "doctor/cluster/cluster_reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "doctor/cluster/account_rights.h"
#include "doctor/cluster/cluster_findings.h"
#include "doctor/cluster/label_selector.h"
#include "doctor/cluster/page_reader.h"
#include "doctor/cluster/refusals.h"
#include "kube/json_bounded.h"
#include "net/http_url.h"
#include "options/version.h"

#define SMALL_MS        10000
#define SMALL_BYTES_MAX (1U << 20)
#define KEPT_MAX        2000 /* objects of a list that is kept as it is */
#define SELECTOR_MAX    1024
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

static double now_s(void)
{
	return (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC;
}

static int take_lease(void *userdata, json_t *item)
{
	struct taking *taking = userdata;

	cluster_facts_take_lease(taking->facts, item, now_s());
	return 0;
}

/* A list that is kept as it is, up to KEPT_MAX objects. */
static int keep(void *userdata, json_t *item)
{
	struct cluster_list *list = userdata;

	if (json_array_size(list->items) == KEPT_MAX) {
		list->is_whole = false;
		return -EOVERFLOW; /* the rest is not asked for */
	}
	return json_array_append(list->items, item) < 0 ? -ENOMEM : 0;
}

/*
 * Lists @path; a failure is a refusal of @what in @ns. *ret_all: each object was seen, or the
 * server does not know the kind. 0, or -ENOMEM.
 */
static int list(struct api_client *client, struct cluster_facts *facts, const char *path,
		const struct cluster_refusal *what, const char *ns, api_item_fn *item,
		void *userdata, bool *ret_all)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	int r = api_list(client, path, item, userdata, &answer);

	*ret_all = answer.status == 404 || (r == 0 && answer.items_left_out == 0);
	if (r < 0 && r != -ENOMEM && answer.status != 404)
		refusal_add(facts, what, ns, &answer);
	return r == -ENOMEM ? r : 0;
}

/* Adds the objects at @path to @list, which begins whole and without items. */
static int list_kept(struct api_client *client, struct cluster_facts *facts, const char *path,
		     const struct cluster_refusal *what, const char *ns, struct cluster_list *list)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	bool is_first = !list->items;
	int r;

	if (is_first)
		list->items = json_array();
	r = list->items ? api_list(client, path, keep, list, &answer) : -ENOMEM;
	if (answer.items_left_out)
		list->is_whole = false;
	if (r == 0 || r == -ENOMEM || !list->is_whole) /* what was kept is of use */
		return r == -ENOMEM ? r : 0;
	if (is_first) {
		json_decref(list->items);
		list->items = NULL;
	}
	if (answer.status != 404) {
		list->is_whole = false;
		refusal_add(facts, what, ns, &answer);
	}
	return 0;
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
	cluster_findings_clean(facts->version, sizeof(facts->version));
	json_decref(version);
	facts->clock = answer.clock;
	facts->now_s = isnan(answer.date_s) ? now_s() : answer.date_s;
	return 0;
}

static int read_pods(struct api_client *client, struct cluster_facts *facts, size_t daemonset)
{
	static const struct cluster_refusal what = {
		.resource = "pods", .subresource = "", .verb = "list", .group = ""
	};
	struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	struct taking taking = { facts, daemonset };
	CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT;
	char selector[SELECTOR_MAX * 3 + 1], path[sizeof(selector) + 512];

	label_selector_query(kube_at(set->object, "spec", "selector", KUBE_END), &query);
	if (strbuf_error(&query) < 0)
		return -ENOMEM;
	/* One that is too long for a URL: each pod of the namespace is looked at. */
	if (query.len > SELECTOR_MAX ||
	    http_url_escape(query.data ? query.data : "", selector, sizeof(selector)) < 0)
		selector[0] = '\0';
	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods?labelSelector=%s", set->ns,
		       selector);
	return list(client, facts, path, &what, set->ns, take_pod, &taking, &set->pods_are_known);
}

/* The settings again, with the configuration file of the pods, if it is in a ConfigMap. */
static int read_settings(struct api_client *client, struct cluster_facts *facts,
			 struct cluster_daemonset *set)
{
	static const struct cluster_refusal what = {
		.resource = "configmaps", .subresource = "", .verb = "get", .group = ""
	};
	const struct settings_place place = exporter_settings_place(set->pod_spec, set->container);
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	struct diag diag = { "" }; /* of a file that this version does not take */
	char path[2 * KUBE_NAME_MAX + 64];
	const char *file;
	json_t *map;
	int r;

	if (!place.config_map || !kube_is_name(place.config_map)) {
		set->settings.are_partial |= place.is_elsewhere || place.config_map;
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/configmaps/%s", set->ns,
		       place.config_map);
	r = api_request(client, path, NULL, SMALL_MS, SMALL_BYTES_MAX, &answer);
	if (r == 0 && answer.status == 404) /* its pods cannot start, which is a finding */
		return 0;
	if (r < 0 || answer.status != 200) {
		set->settings.are_partial = true;
		if (r != -ENOMEM)
			refusal_add(facts, &what, set->ns, &answer);
		return r == -ENOMEM ? r : 0;
	}
	map = json_parse_bounded(answer.body.data ? answer.body.data : "", answer.body.len);
	file = kube_text(map, "data", place.key, KUBE_END);
	r = *file ? exporter_settings_read(set->container, file, strlen(file), &set->settings,
					   &diag)
		  : 0;
	set->settings.are_partial |= place.is_elsewhere;
	json_decref(map);
	return r == -ENOMEM ? r : 0;
}

/* Why the controller could not make pods, if its events report a reason. */
static int read_events(struct api_client *client, struct cluster_daemonset *set)
{
	CLEANUP(api_answer_release) struct api_answer answer = { 0 };
	struct cluster_list events = { .items = json_array(), .is_whole = true };
	char path[1024];

	if (!events.items)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path),
		       "/api/v1/namespaces/%s/events?fieldSelector=reason%%3DFailedCreate%%2C"
		       "involvedObject.name%%3D%s",
		       set->ns, set->name);
	(void)api_list(client, path, keep, &events, &answer); /* they are only a help */
	(void)snprintf(set->create_error, sizeof(set->create_error), "%s",
		       kube_text(json_array_get(events.items, 0), "message", KUBE_END));
	json_decref(events.items);
	return 0;
}

/* The Services of the namespace of each DaemonSet, once. */
static int read_services(struct api_client *client, struct cluster_facts *facts, size_t daemonset)
{
	static const struct cluster_refusal what = {
		.resource = "services", .subresource = "", .verb = "list", .group = ""
	};
	struct cluster_daemonset *set = &facts->daemonsets[daemonset];
	struct cluster_list *services = &facts->services;
	bool was_whole = services->is_whole;
	char path[512];
	int r;

	for (size_t i = 0; i < daemonset; i++) {
		if (strcmp(facts->daemonsets[i].ns, set->ns) == 0) {
			set->services_are_known = facts->daemonsets[i].services_are_known;
			return 0;
		}
	}
	services->is_whole = true;
	(void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/services", set->ns);
	r = list_kept(client, facts, path, &what, set->ns, services);
	set->services_are_known = services->is_whole && services->items;
	services->is_whole &= was_whole;
	return r;
}

static int read_daemonset(struct api_client *client, struct cluster_facts *facts, size_t daemonset)
{
	int r = read_settings(client, facts, &facts->daemonsets[daemonset]);

	if (r == 0)
		r = read_pods(client, facts, daemonset);
	if (r == 0)
		r = read_events(client, &facts->daemonsets[daemonset]);
	if (r == 0 && facts->has_operator)
		r = read_services(client, facts, daemonset);
	return r;
}

/* The kinds of the Prometheus operator, if the server knows them. */
static int read_operator(struct api_client *client, struct cluster_facts *facts)
{
	const struct {
		const char *path;
		struct cluster_refusal what;
		struct cluster_list *ret;
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
		lists[i].ret->is_whole = true;
		r = list_kept(client, facts, lists[i].path, &what, "", lists[i].ret);
	}
	facts->has_operator = facts->pod_monitors.items || facts->service_monitors.items;
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
	bool all;
	int r = list(client, facts, "/api/v1/nodes", &nodes, "", take_node, &taking, &all);

	if (r == 0)
		r = list(client, facts,
			 "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", &leases,
			 "kube-node-lease", take_lease, &taking, &all);
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
		    &what, "", take_daemonset, &taking, &facts->daemonsets_are_known);
}

int cluster_read(struct api_client *client, struct cluster_facts *facts, struct diag *diag)
{
	int r;

	(void)snprintf(facts->server, sizeof(facts->server), "%.255s", client->access->server);
	(void)snprintf(facts->own_version, sizeof(facts->own_version), "%s", KEPLER_VERSION);
	r = read_version(client, facts, diag);
	if (r < 0)
		return r;
	facts->services.is_whole = true;
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
