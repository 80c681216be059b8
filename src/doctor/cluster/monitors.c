// SPDX-License-Identifier: Apache-2.0
/*
 * A monitor selects the pods of a DaemonSet of Kepler, or a Service that does. A Prometheus takes
 * it if it selects both its labels and its namespace: a selector that is missing selects no
 * monitors, and for namespaces its own alone.
 */
#include "doctor/cluster/monitors.h"

#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "doctor/cluster/label_selector.h"

#define PATH "/metrics"

const struct monitor_kind monitor_kinds[MONITOR_KINDS] = {
	[POD_MONITOR] = { "PodMonitor", "podmonitor", "podMetricsEndpoints", "podMonitorSelector",
			  "podMonitorNamespaceSelector", false },
	[SERVICE_MONITOR] = { "ServiceMonitor", "servicemonitor", "endpoints",
			      "serviceMonitorSelector", "serviceMonitorNamespaceSelector", true },
};

const char *object_name(const json_t *object)
{
	return kube_text(object, "metadata", "name", KUBE_END);
}

const char *object_namespace(const json_t *object)
{
	return kube_text(object, "metadata", "namespace", KUBE_END);
}

/* spec.namespaceSelector of a monitor: any, matchNames, or its own namespace. */
static bool covers_namespace(const json_t *monitor, const char *ns)
{
	const json_t *selector = kube_at(monitor, "spec", "namespaceSelector", KUBE_END);
	const json_t *names = kube_at(selector, "matchNames", KUBE_END);

	if (json_is_true(kube_at(selector, "any", KUBE_END)))
		return true;
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && strcmp(name, ns) == 0)
			return true;
	}
	return json_array_size(names) == 0 && strcmp(object_namespace(monitor), ns) == 0;
}

/* Is the object a Service of the DaemonSet's pods? */
static bool serves(const struct cluster_daemonset *set, const json_t *service)
{
	json_t *selector = kube_at(service, "spec", "selector", KUBE_END);

	return strcmp(object_namespace(service), set->ns) == 0 && json_object_size(selector) > 0 &&
	       labels_have(set->labels, selector);
}

/* The next Service of the DaemonSet's pods that the monitor selects, from @*at on; NULL. */
static const json_t *next_service(const struct cluster_facts *facts,
				  const struct cluster_daemonset *set,
				  const struct monitor *monitor, size_t *at)
{
	while (*at < json_array_size(facts->services.items)) {
		const json_t *service = json_array_get(facts->services.items, (*at)++);

		if (serves(set, service) &&
		    label_selector_matches(kube_at(monitor->object, "spec", "selector", KUBE_END),
					   kube_at(service, "metadata", "labels", KUBE_END)))
			return service;
	}
	return NULL;
}

bool monitor_selects(const struct cluster_facts *facts, const struct cluster_daemonset *set,
		     const struct monitor *monitor)
{
	size_t at = 0;

	if (!covers_namespace(monitor->object, set->ns))
		return false;
	if (monitor->kind->of_services)
		return next_service(facts, set, monitor, &at);
	return label_selector_matches(kube_at(monitor->object, "spec", "selector", KUBE_END),
				      set->labels);
}

/* ---- ports and paths ---- */

/* A name or a number of a container's port. */
static bool is_our_port(const struct cluster_daemonset *set, const json_t *port)
{
	const char *name = json_string_value(port);

	if (json_is_integer(port))
		return json_integer_value(port) == set->port;
	return name && *name && strcmp(name, set->port_name) == 0;
}

/* Does a Service's port with that name (NULL: any) lead to Kepler's? */
static bool leads_to_us(const struct cluster_daemonset *set, const json_t *service,
			const char *name)
{
	const json_t *ports = kube_at(service, "spec", "ports", KUBE_END);

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);
		const json_t *target = kube_at(port, "targetPort", KUBE_END);

		if (name && strcmp(kube_text(port, "name", KUBE_END), name) != 0)
			continue;
		if (is_our_port(set, target ? target : kube_at(port, "port", KUBE_END)))
			return true;
	}
	return false;
}

static bool has_our_port(const struct cluster_facts *facts, const struct cluster_daemonset *set,
			 const struct monitor *monitor, const json_t *endpoint)
{
	const char *name = kube_text(endpoint, "port", KUBE_END);
	const json_t *number = kube_at(endpoint, "portNumber", KUBE_END);
	const json_t *target = kube_at(endpoint, "targetPort", KUBE_END);
	const json_t *service;
	size_t at = 0;

	if (!*name && !monitor->kind->of_services && number)
		return is_our_port(set, number);
	if (!*name && target)
		return is_our_port(set, target);
	if (!monitor->kind->of_services)
		return !*name || strcmp(name, set->port_name) == 0; /* without one: each port */
	while ((service = next_service(facts, set, monitor, &at))) {
		if (leads_to_us(set, service, *name ? name : NULL))
			return true;
	}
	return false;
}

static bool is_one_of(const char *text, const char *const list[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(text, list[i]) == 0)
			return true;
	}
	return false;
}

/* Is there a rule that drops targets or series? Prometheus, "relabel_config". */
static bool has_filter(const json_t *rules)
{
	static const char *const filters[] = { "keep", "drop", "keepequal", "dropequal" };

	for (size_t i = 0; i < json_array_size(rules); i++) {
		if (is_one_of(kube_text(json_array_get(rules, i), "action", KUBE_END), filters,
			      ARRAY_SIZE(filters)))
			return true;
	}
	return false;
}

/* A rule that sets __address__ or __metrics_path__ makes another target of it. */
static bool has_redirection(const json_t *rules)
{
	for (size_t i = 0; i < json_array_size(rules); i++) {
		const char *label = kube_text(json_array_get(rules, i), "targetLabel", KUBE_END);

		if (strncmp(label, "__", 2) == 0 && strncmp(label, "__tmp", 5) != 0)
			return true;
	}
	return false;
}

enum certainty endpoint_scrapes(const struct cluster_facts *facts,
				const struct cluster_daemonset *set, const struct monitor *monitor,
				const json_t *endpoint)
{
	const json_t *rules = kube_at(endpoint, "relabelings", KUBE_END);
	const char *path = kube_text(endpoint, "path", KUBE_END);

	if (has_redirection(rules))
		return PERHAPS;
	if ((*path && strcmp(path, PATH) != 0) || !has_our_port(facts, set, monitor, endpoint))
		return CERTAINLY_NOT;
	return has_filter(rules) ? PERHAPS : CERTAINLY;
}

static const json_t *endpoints_of(const struct monitor *monitor)
{
	return kube_at(monitor->object, "spec", monitor->kind->endpoints, KUBE_END);
}

enum certainty monitor_scrapes(const struct cluster_facts *facts,
			       const struct cluster_daemonset *set, const struct monitor *monitor)
{
	const json_t *endpoints = endpoints_of(monitor);
	enum certainty most = CERTAINLY_NOT;

	for (size_t i = 0; i < json_array_size(endpoints); i++) {
		enum certainty one =
			endpoint_scrapes(facts, set, monitor, json_array_get(endpoints, i));

		if (one > most)
			most = one;
	}
	return most;
}

bool monitor_discards(const struct monitor *monitor)
{
	const json_t *endpoints = endpoints_of(monitor);

	for (size_t i = 0; i < json_array_size(endpoints); i++) {
		if (has_filter(
			    kube_at(json_array_get(endpoints, i), "metricRelabelings", KUBE_END)))
			return true;
	}
	return false;
}

static bool names_kepler(const json_t *text)
{
	return json_is_string(text) && strcasestr(json_string_value(text), "kepler");
}

bool monitor_is_for_kepler(const struct monitor *monitor)
{
	const json_t *selector = kube_at(monitor->object, "spec", "selector", KUBE_END);
	const json_t *expressions = kube_at(selector, "matchExpressions", KUBE_END);
	json_t *labels = kube_at(selector, "matchLabels", KUBE_END), *value;
	const char *key;

	if (names_kepler(kube_at(monitor->object, "metadata", "name", KUBE_END)))
		return true;
	json_object_foreach(labels, key, value)
	{
		if (names_kepler(value))
			return true;
	}
	for (size_t i = 0; i < json_array_size(expressions); i++) {
		const json_t *one = json_array_get(expressions, i);

		if (strcmp(kube_text(one, "operator", KUBE_END), "In") == 0 &&
		    names_kepler(json_array_get(kube_at(one, "values", KUBE_END), 0)))
			return true;
	}
	return false;
}

static bool has_named(const json_t *ports, const char *name)
{
	for (size_t i = 0; i < json_array_size(ports); i++) {
		if (strcmp(kube_text(json_array_get(ports, i), "name", KUBE_END), name) == 0)
			return true;
	}
	return false;
}

/* A port of a sidecar is one, too. */
static bool pod_has_port(const struct cluster_daemonset *set, const char *name)
{
	static const char *const lists[] = { "containers", "initContainers" };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		const json_t *containers = kube_at(set->pod_spec, lists[l], KUBE_END);

		for (size_t i = 0; i < json_array_size(containers); i++) {
			if (has_named(kube_at(json_array_get(containers, i), "ports", KUBE_END),
				      name))
				return true;
		}
	}
	return false;
}

static bool service_has_port(const struct cluster_facts *facts, const struct cluster_daemonset *set,
			     const struct monitor *monitor, const char *name)
{
	const json_t *service;
	size_t at = 0;

	while ((service = next_service(facts, set, monitor, &at))) {
		if (has_named(kube_at(service, "spec", "ports", KUBE_END), name))
			return true;
	}
	return false;
}

const char *monitor_missing_port(const struct cluster_facts *facts,
				 const struct cluster_daemonset *set, const struct monitor *monitor)
{
	const json_t *endpoints = endpoints_of(monitor);

	for (size_t i = 0; i < json_array_size(endpoints); i++) {
		const char *name = kube_text(json_array_get(endpoints, i), "port", KUBE_END);

		if (*name &&
		    !(monitor->kind->of_services ? service_has_port(facts, set, monitor, name)
						 : pod_has_port(set, name)))
			return name;
	}
	return NULL;
}

/* ---- Prometheus ---- */

static enum certainty selects_namespace(const struct cluster_facts *facts, const json_t *selector,
					const char *ns)
{
	const json_t *list = facts->namespaces.items;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		if (strcmp(object_name(one), ns) == 0)
			return label_selector_matches(selector,
						      kube_at(one, "metadata", "labels", KUBE_END))
				       ? CERTAINLY
				       : CERTAINLY_NOT;
	}
	/* Labels that could not be read are not held against it. */
	if (label_selector_matches(selector, NULL))
		return CERTAINLY;
	return facts->namespaces.is_whole ? CERTAINLY_NOT : PERHAPS;
}

enum certainty prometheus_takes(const struct cluster_facts *facts,
				const struct cluster_daemonset *set, const json_t *prometheus,
				const struct monitor *monitor)
{
	const json_t *spec = kube_at(prometheus, "spec", KUBE_END);
	const json_t *namespaces = kube_at(spec, monitor->kind->namespace_selector, KUBE_END);
	const char *ns = object_namespace(monitor->object);

	if (!label_selector_matches(kube_at(spec, monitor->kind->selector, KUBE_END),
				    kube_at(monitor->object, "metadata", "labels", KUBE_END)))
		return CERTAINLY_NOT;
	if (json_is_true(kube_at(spec, "ignoreNamespaceSelectors", KUBE_END)) &&
	    strcmp(ns, set->ns) != 0)
		return CERTAINLY_NOT;
	if (json_is_object(namespaces))
		return selects_namespace(facts, namespaces, ns);
	return strcmp(object_namespace(prometheus), ns) == 0 ? CERTAINLY : CERTAINLY_NOT;
}

/* The convention of many hand-written configurations, and of charts of Prometheus. */
static bool asks_for_scrapes(const json_t *metadata)
{
	return strcmp(kube_text(metadata, "annotations", "prometheus.io/scrape", KUBE_END),
		      "true") == 0;
}

static bool is_configured_by_hand(const json_t *prometheuses)
{
	for (size_t i = 0; i < json_array_size(prometheuses); i++) {
		if (kube_at(json_array_get(prometheuses, i), "spec", "additionalScrapeConfigs",
			    KUBE_END))
			return true;
	}
	return false;
}

bool is_scraped_otherwise(const struct cluster_facts *facts, const struct cluster_daemonset *set)
{
	const json_t *services = facts->services.items;

	if (asks_for_scrapes(kube_at(set->object, "spec", "template", "metadata", KUBE_END)) ||
	    is_configured_by_hand(facts->prometheuses.items) ||
	    is_configured_by_hand(facts->agents.items))
		return true;
	for (size_t i = 0; i < json_array_size(services); i++) {
		const json_t *service = json_array_get(services, i);

		if (serves(set, service) &&
		    asks_for_scrapes(kube_at(service, "metadata", KUBE_END)))
			return true;
	}
	return false;
}
