// SPDX-License-Identifier: Apache-2.0
/*
 * A monitor is one of ours if it selects the pods of a DaemonSet of Kepler, or a Service that does.
 * A Prometheus takes it if it selects both its labels and its namespace: a selector that is missing
 * selects no monitors, and for namespaces its own alone.
 */
#include "doctor/cluster/judge_scrapes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "doctor/cluster/label_selector.h"

#define DEFAULT_INTERVAL_NS (30 * NSEC_PER_SEC) /* spec.scrapeInterval */
#define AUTO_SETTLE_MAX_S   120.0               /* of --metrics.settle=auto */

/* The two kinds of monitors, and where each part of them is. */
static const struct monitor_kind {
	const char *name, *endpoints, *selector, *namespace_selector;
	bool of_services;
} kinds[] = {
	{ "PodMonitor", "podMetricsEndpoints", "podMonitorSelector", "podMonitorNamespaceSelector",
	  false },
	{ "ServiceMonitor", "endpoints", "serviceMonitorSelector",
	  "serviceMonitorNamespaceSelector", true },
};

struct scrape_judge {
	const struct cluster_facts *facts;
	const struct cluster_daemonset *set;
	size_t set_index;
	struct cluster_findings *findings;
	size_t monitors; /* that select the DaemonSet */
	size_t scrapers; /* pairs of a monitor and a Prometheus that takes it */
	const json_t *first_prometheus, *first_monitor;
};

static const char *name_of(const json_t *object)
{
	return kube_text(object, "metadata", "name", KUBE_END);
}

static const char *namespace_of(const json_t *object)
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
	return json_array_size(names) == 0 && strcmp(namespace_of(monitor), ns) == 0;
}

static bool has_selector(const json_t *service, const json_t *labels)
{
	json_t *selector = kube_at(service, "spec", "selector", KUBE_END);

	return json_object_size(selector) > 0 && labels_have(labels, selector);
}

/* The first Service of the DaemonSet's pods that the monitor selects. */
static const json_t *service_for(const struct scrape_judge *judge, const json_t *monitor)
{
	const json_t *services = judge->facts->services;

	for (size_t i = 0; i < json_array_size(services); i++) {
		const json_t *service = json_array_get(services, i);

		if (strcmp(namespace_of(service), judge->set->ns) == 0 &&
		    has_selector(service, judge->set->labels) &&
		    label_selector_matches(kube_at(monitor, "spec", "selector", KUBE_END),
					   kube_at(service, "metadata", "labels", KUBE_END)))
			return service;
	}
	return NULL;
}

static bool selects_daemonset(const struct scrape_judge *judge, const struct monitor_kind *kind,
			      const json_t *monitor)
{
	if (!covers_namespace(monitor, judge->set->ns))
		return false;
	if (kind->of_services)
		return service_for(judge, monitor);
	return label_selector_matches(kube_at(monitor, "spec", "selector", KUBE_END),
				      judge->set->labels);
}

static const json_t *labels_of_namespace(const struct cluster_facts *facts, const char *ns)
{
	for (size_t i = 0; i < json_array_size(facts->namespaces); i++) {
		const json_t *one = json_array_get(facts->namespaces, i);

		if (strcmp(name_of(one), ns) == 0)
			return kube_at(one, "metadata", "labels", KUBE_END);
	}
	return NULL;
}

static bool takes_namespace(const struct cluster_facts *facts, const struct monitor_kind *kind,
			    const json_t *prometheus, const json_t *monitor)
{
	const json_t *selector = kube_at(prometheus, "spec", kind->namespace_selector, KUBE_END);

	if (!json_is_object(selector))
		return strcmp(namespace_of(prometheus), namespace_of(monitor)) == 0;
	/* Labels that could not be read are not held against it. */
	return !facts->namespaces ||
	       label_selector_matches(selector, labels_of_namespace(facts, namespace_of(monitor)));
}

static void name_monitor(struct cluster_finding *draft, const struct monitor_kind *kind,
			 const json_t *monitor)
{
	(void)snprintf(draft->object, sizeof(draft->object), "%s %s/%s", kind->name,
		       namespace_of(monitor), name_of(monitor));
}

static void show_monitor(struct cluster_finding *draft, const struct monitor_kind *kind,
			 const json_t *monitor)
{
	(void)snprintf(draft->command, sizeof(draft->command), "kubectl -n %s get %s %s -o yaml",
		       namespace_of(monitor), kind->of_services ? "servicemonitor" : "podmonitor",
		       name_of(monitor));
}

/* The least of the nodes' values; NaN: no page shows it. */
static double shortest_settle_s(const struct scrape_judge *judge)
{
	double least_s = (double)NAN;

	for (size_t i = 0; i < judge->facts->node_count; i++) {
		const struct cluster_node *node = &judge->facts->nodes[i];

		for (size_t p = 0; p < node->pod_count; p++) {
			if (node->pods[p].daemonset == judge->set_index &&
			    node->pods[p].state == PAGE_READ)
				least_s = fmin(least_s, node->pods[p].page.settle_s);
		}
	}
	return least_s;
}

struct page_maxima {
	double interval_s; /* NaN: no page shows it */
	size_t samples;
};

static struct page_maxima maxima_of(const struct scrape_judge *judge)
{
	struct page_maxima maxima = { .interval_s = (double)NAN };

	for (size_t i = 0; i < judge->facts->node_count; i++) {
		const struct cluster_node *node = &judge->facts->nodes[i];

		for (size_t p = 0; p < node->pod_count; p++) {
			const struct exporter_page *page = &node->pods[p].page;

			if (node->pods[p].daemonset != judge->set_index ||
			    node->pods[p].state != PAGE_READ)
				continue;
			maxima.interval_s = fmax(maxima.interval_s, page->interval_s);
			if (page->samples > maxima.samples)
				maxima.samples = page->samples;
		}
	}
	return maxima;
}

static void judge_interval(const struct scrape_judge *judge, const struct monitor_kind *kind,
			   const json_t *monitor, double scrape_s)
{
	struct cluster_finding draft = { .level = FINDING_NOTE, .id = "scrape-too-fast" };
	double interval_s = maxima_of(judge).interval_s, settle_s = shortest_settle_s(judge);

	name_monitor(&draft, kind, monitor);
	show_monitor(&draft, kind, monitor);
	if (scrape_s < interval_s) {
		(void)snprintf(draft.what, sizeof(draft.what),
			       "scrapes every %.3g s, Kepler measures every %.3g s", scrape_s,
			       interval_s);
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"scrapes in between get the same numbers again: they cost storage and "
			"show nothing");
		cluster_findings_add(judge->findings, &draft, NULL);
	}
	/* auto follows scrapes that have begun, up to a limit; else it shows other clients. */
	if (settle_s < scrape_s &&
	    (scrape_s > AUTO_SETTLE_MAX_S || strcmp(judge->set->settle, "auto") != 0)) {
		draft.level = FINDING_FIX;
		draft.id = "settle-too-short";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "scrapes every %.3g s, new series show 0 for %.3g s only", scrape_s,
			       settle_s);
		(void)snprintf(draft.why, sizeof(draft.why),
			       "increase() and rate() miss the energy that a series counts before "
			       "its first scrape");
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s set env daemonset %s KEPLER_METRICS_SETTLE=%.0fs",
			       judge->set->ns, judge->set->name, ceil(scrape_s) + 5);
		cluster_findings_add(judge->findings, &draft, NULL);
	}
}

static void judge_sample_limit(const struct scrape_judge *judge, const struct monitor_kind *kind,
			       const json_t *monitor, const json_t *prometheus)
{
	long long limit = json_integer_value(kube_at(monitor, "spec", "sampleLimit", KUBE_END));
	long long enforced =
		json_integer_value(kube_at(prometheus, "spec", "enforcedSampleLimit", KUBE_END));
	size_t samples = maxima_of(judge).samples;
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "sample-limit-exceeded" };

	if (enforced > 0 && (limit <= 0 || enforced < limit))
		limit = enforced;
	if (limit <= 0 || samples <= (size_t)limit)
		return;
	name_monitor(&draft, kind, monitor);
	show_monitor(&draft, kind, monitor);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "a page has %zu samples, and the limit of a scrape is %lld", samples, limit);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "Prometheus discards a whole scrape that exceeds sampleLimit");
	cluster_findings_add(judge->findings, &draft, NULL);
}

/* The endpoints must name a port that exists, of the pod or of the Service. */
static bool has_port(const struct scrape_judge *judge, const struct monitor_kind *kind,
		     const json_t *monitor, const json_t *endpoint)
{
	const char *port = kube_text(endpoint, "port", KUBE_END);
	const json_t *ports = kube_at(service_for(judge, monitor), "spec", "ports", KUBE_END);

	if (!*port) /* targetPort or portNumber */
		return true;
	if (!kind->of_services)
		return strcmp(port, judge->set->port_name) == 0;
	for (size_t i = 0; i < json_array_size(ports); i++) {
		if (strcmp(kube_text(json_array_get(ports, i), "name", KUBE_END), port) == 0)
			return true;
	}
	return false;
}

static void judge_endpoint(const struct scrape_judge *judge, const struct monitor_kind *kind,
			   const json_t *monitor, const json_t *prometheus, const json_t *endpoint)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "monitor-port-missing" };
	const char *interval = kube_text(endpoint, "interval", KUBE_END);
	uint64_t interval_ns = DEFAULT_INTERVAL_NS;

	if (!has_port(judge, kind, monitor, endpoint)) {
		name_monitor(&draft, kind, monitor);
		show_monitor(&draft, kind, monitor);
		(void)snprintf(draft.what, sizeof(draft.what),
			       "its endpoint names a port %s, which "
			       "does not exist",
			       kube_text(endpoint, "port", KUBE_END));
		(void)snprintf(draft.why, sizeof(draft.why),
			       "Prometheus finds no target; the port of Kepler is called %s",
			       judge->set->port_name);
		cluster_findings_add(judge->findings, &draft, NULL);
		return;
	}
	if (!*interval)
		interval = kube_text(prometheus, "spec", "scrapeInterval", KUBE_END);
	if (*interval && parse_duration_ns(interval, &interval_ns) < 0)
		return;
	judge_interval(judge, kind, monitor, (double)interval_ns / (double)NSEC_PER_SEC);
}

static void judge_pair(struct scrape_judge *judge, const struct monitor_kind *kind,
		       const json_t *monitor, const json_t *prometheus)
{
	const json_t *endpoints = kube_at(monitor, "spec", kind->endpoints, KUBE_END);
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "scraped-twice",
		.why = "its series exist twice, with different labels: sums have all energy twice",
	};

	if (!label_selector_matches(kube_at(prometheus, "spec", kind->selector, KUBE_END),
				    kube_at(monitor, "metadata", "labels", KUBE_END)) ||
	    !takes_namespace(judge->facts, kind, prometheus, monitor))
		return;
	judge->scrapers++;
	if (judge->first_prometheus == prometheus && judge->first_monitor != monitor) {
		name_monitor(&draft, kind, monitor);
		(void)snprintf(draft.what, sizeof(draft.what),
			       "Prometheus %.60s/%.60s scrapes Kepler by %.60s already",
			       namespace_of(prometheus), name_of(prometheus),
			       name_of(judge->first_monitor));
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get %s %s -o yaml", namespace_of(monitor),
			       kind->of_services ? "servicemonitor" : "podmonitor",
			       name_of(monitor));
		cluster_findings_add(judge->findings, &draft, NULL);
	}
	if (!judge->first_prometheus) {
		judge->first_prometheus = prometheus;
		judge->first_monitor = monitor;
	}
	for (size_t i = 0; i < json_array_size(endpoints); i++)
		judge_endpoint(judge, kind, monitor, prometheus, json_array_get(endpoints, i));
	judge_sample_limit(judge, kind, monitor, prometheus);
}

/* It goes into a command: a selector may hold any text. */
static bool is_label_text(const char *text)
{
	for (; *text; text++) {
		if (!ascii_is_alnum(*text) && !strchr("-._/", *text))
			return false;
	}
	return true;
}

static void say_unselected(const struct scrape_judge *judge, const struct monitor_kind *kind,
			   const json_t *monitor, const json_t *prometheus)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "monitor-not-selected" };
	const json_t *selector = kube_at(prometheus, "spec", kind->selector, KUBE_END);
	json_t *pairs = kube_at(selector, "matchLabels", KUBE_END);
	const char *key = json_object_iter_key(json_object_iter(pairs));
	const char *value = key ? kube_text(pairs, key, KUBE_END) : "";

	name_monitor(&draft, kind, monitor);
	(void)snprintf(draft.what, sizeof(draft.what), "is selected by no Prometheus");
	if (label_selector_matches(selector, kube_at(monitor, "metadata", "labels", KUBE_END)))
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"nothing is scraped: %s of Prometheus %.60s/%.60s does not select its "
			"namespace",
			kind->namespace_selector, namespace_of(prometheus), name_of(prometheus));
	else
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"nothing is scraped: %s of Prometheus %.60s/%.60s does not select its "
			"labels",
			kind->selector, namespace_of(prometheus), name_of(prometheus));
	if (*value && strstr(draft.why, "its labels") && is_label_text(key) && is_label_text(value))
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s label %s %s --overwrite %s=%s", namespace_of(monitor),
			       kind->of_services ? "servicemonitor" : "podmonitor",
			       name_of(monitor), key, value);
	else
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get prometheus %s -o yaml", namespace_of(prometheus),
			       name_of(prometheus));
	cluster_findings_add(judge->findings, &draft, NULL);
}

/* For each monitor that selects the DaemonSet. */
typedef void monitor_fn(struct scrape_judge *judge, const struct monitor_kind *kind,
			const json_t *monitor);

static void each_monitor(struct scrape_judge *judge, monitor_fn *fn)
{
	const json_t *const lists[] = { judge->facts->pod_monitors,
					judge->facts->service_monitors };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t i = 0; i < json_array_size(lists[k]); i++) {
			const json_t *monitor = json_array_get(lists[k], i);

			if (selects_daemonset(judge, &kinds[k], monitor))
				fn(judge, &kinds[k], monitor);
		}
	}
}

static void judge_monitor(struct scrape_judge *judge, const struct monitor_kind *kind,
			  const json_t *monitor)
{
	const json_t *const lists[] = { judge->facts->prometheuses, judge->facts->agents };

	judge->monitors++;
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; i < json_array_size(lists[l]); i++)
			judge_pair(judge, kind, monitor, json_array_get(lists[l], i));
	}
}

static void judge_unselected(struct scrape_judge *judge, const struct monitor_kind *kind,
			     const json_t *monitor)
{
	const json_t *prometheus = json_array_get(judge->facts->prometheuses, 0);

	if (!prometheus)
		prometheus = json_array_get(judge->facts->agents, 0);
	if (prometheus)
		say_unselected(judge, kind, monitor, prometheus);
}

static void judge_daemonset(struct scrape_judge *judge)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "monitor-missing",
		.what = "no PodMonitor or ServiceMonitor selects its pods",
		.why = "the Prometheus operator is installed, and does not find Kepler; the "
		       "components podmonitor and servicemonitor of deploy/kubernetes find it",
		.command = "kubectl get podmonitors,servicemonitors --all-namespaces",
	};

	each_monitor(judge, judge_monitor);
	if (judge->scrapers == 0)
		each_monitor(judge, judge_unselected);
	(void)snprintf(draft.object, sizeof(draft.object), "DaemonSet %s/%s", judge->set->ns,
		       judge->set->name);
	if (judge->monitors == 0 && judge->facts->pod_monitors && judge->facts->service_monitors)
		cluster_findings_add(judge->findings, &draft, NULL);
}

void judge_scrapes(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "prometheus-missing",
		.object = "cluster",
		.what = "the Prometheus operator is installed, and there is no Prometheus object",
		.why = "no one scrapes by PodMonitors and ServiceMonitors",
		.command = "kubectl get prometheuses,prometheusagents --all-namespaces",
	};

	if (!facts->has_operator)
		return;
	for (size_t i = 0; i < facts->daemonset_count; i++) {
		struct scrape_judge judge = { .facts = facts,
					      .set = &facts->daemonsets[i],
					      .set_index = i,
					      .findings = findings };

		judge_daemonset(&judge);
	}
	if (facts->prometheuses && json_array_size(facts->prometheuses) == 0 &&
	    json_array_size(facts->agents) == 0)
		cluster_findings_add(findings, &draft, NULL);
}
