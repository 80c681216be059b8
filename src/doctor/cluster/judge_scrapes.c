// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/judge_scrapes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "doctor/cluster/label_selector.h"
#include "doctor/cluster/monitors.h"

#define DEFAULT_INTERVAL_NS (30 * NSEC_PER_SEC) /* spec.scrapeInterval */
#define AUTO_SETTLE_MAX_S   120.0               /* of --metrics.settle=auto */

struct scrape_judge {
	const struct cluster_facts *facts;
	const struct cluster_daemonset *set;
	size_t set_index;
	struct cluster_findings *findings;
	size_t monitors;                 /* that scrape the DaemonSet, or should */
	size_t scrapers;                 /* pairs of one and a Prometheus that takes it */
	const json_t *prometheus;        /* whose monitors are looked at */
	const struct monitor *its_first; /* of them, which certainly scrapes */
	struct monitor kept;             /* what its_first refers to */
};

static void name_monitor(struct cluster_finding *draft, const struct monitor *monitor)
{
	cluster_finding_name(draft, monitor->kind->name, object_namespace(monitor->object),
			     object_name(monitor->object));
	(void)snprintf(draft->command, sizeof(draft->command), "kubectl -n %s get %s %s -o yaml",
		       object_namespace(monitor->object), monitor->kind->plural,
		       object_name(monitor->object));
}

/* The worst of the pages of a DaemonSet for a scrape. */
struct page_extremes {
	double longest_interval_s, shortest_settle_s; /* NaN: no page shows it */
	size_t most_samples;
};

static struct page_extremes extremes_of(const struct scrape_judge *judge)
{
	struct page_extremes found = { (double)NAN, (double)NAN, 0 };

	for (size_t i = 0; i < judge->facts->node_count; i++) {
		const struct cluster_node *node = &judge->facts->nodes[i];

		for (size_t p = 0; p < node->pod_count; p++) {
			const struct exporter_page *page = &node->pods[p].page;

			if (node->pods[p].daemonset != judge->set_index ||
			    node->pods[p].state != PAGE_READ)
				continue;
			found.longest_interval_s = fmax(found.longest_interval_s, page->interval_s);
			found.shortest_settle_s = fmin(found.shortest_settle_s, page->settle_s);
			if (page->samples > found.most_samples)
				found.most_samples = page->samples;
		}
	}
	return found;
}

static void judge_interval(const struct scrape_judge *judge, const struct monitor *monitor,
			   double scrape_s)
{
	struct cluster_finding draft = { .level = FINDING_NOTE, .id = "scrape-too-fast" };
	const struct page_extremes pages = extremes_of(judge);
	double interval_s = pages.longest_interval_s, settle_s = pages.shortest_settle_s;

	name_monitor(&draft, monitor);
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
	    (scrape_s > AUTO_SETTLE_MAX_S || strcmp(judge->set->settings.settle, "auto") != 0)) {
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

static void judge_sample_limit(const struct scrape_judge *judge, const struct monitor *monitor)
{
	long long limit =
		json_integer_value(kube_at(monitor->object, "spec", "sampleLimit", KUBE_END));
	long long enforced = json_integer_value(
		kube_at(judge->prometheus, "spec", "enforcedSampleLimit", KUBE_END));
	size_t samples = extremes_of(judge).most_samples;
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "sample-limit-exceeded" };

	if (enforced > 0 && (limit <= 0 || enforced < limit))
		limit = enforced;
	if (limit <= 0 || samples <= (size_t)limit)
		return;
	name_monitor(&draft, monitor);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "a page has %zu samples, and the limit of a scrape is %lld", samples, limit);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "Prometheus discards a whole scrape that exceeds sampleLimit");
	cluster_findings_add(judge->findings, &draft, NULL);
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

static void say_unselected(const struct scrape_judge *judge, const struct monitor *monitor,
			   const json_t *prometheus)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "monitor-not-selected" };
	const json_t *selector = kube_at(prometheus, "spec", monitor->kind->selector, KUBE_END);
	json_t *pairs = kube_at(selector, "matchLabels", KUBE_END);
	const char *key = json_object_iter_key(json_object_iter(pairs));
	const char *value = key ? kube_text(pairs, key, KUBE_END) : "";

	name_monitor(&draft, monitor);
	(void)snprintf(draft.what, sizeof(draft.what), "is selected by no Prometheus");
	if (label_selector_matches(selector,
				   kube_at(monitor->object, "metadata", "labels", KUBE_END)))
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"nothing is scraped: %s of Prometheus %.60s/%.60s does not select its "
			"namespace",
			monitor->kind->namespace_selector, object_namespace(prometheus),
			object_name(prometheus));
	else
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"nothing is scraped: %s of Prometheus %.60s/%.60s does not select its "
			"labels",
			monitor->kind->selector, object_namespace(prometheus),
			object_name(prometheus));
	if (*value && strstr(draft.why, "its labels") && is_label_text(key) && is_label_text(value))
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s label %s %s --overwrite %s=%s",
			       object_namespace(monitor->object), monitor->kind->plural,
			       object_name(monitor->object), key, value);
	else
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get prometheus %s -o yaml",
			       object_namespace(prometheus), object_name(prometheus));
	cluster_findings_add(judge->findings, &draft, NULL);
}

/* For each monitor that selects the DaemonSet. */
typedef void monitor_fn(struct scrape_judge *judge, const struct monitor *monitor);

static void each_monitor(struct scrape_judge *judge, monitor_fn *fn)
{
	const json_t *const lists[MONITOR_KINDS] = {
		[POD_MONITOR] = judge->facts->pod_monitors.items,
		[SERVICE_MONITOR] = judge->facts->service_monitors.items,
	};

	for (size_t k = 0; k < MONITOR_KINDS; k++) {
		for (size_t i = 0; i < json_array_size(lists[k]); i++) {
			const struct monitor monitor = { &monitor_kinds[k],
							 json_array_get(lists[k], i) };

			if (monitor_selects(judge->facts, judge->set, &monitor))
				fn(judge, &monitor);
		}
	}
}

typedef void prometheus_fn(struct scrape_judge *judge);

static void each_prometheus(struct scrape_judge *judge, prometheus_fn *fn)
{
	const json_t *const lists[] = { judge->facts->prometheuses.items,
					judge->facts->agents.items };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; i < json_array_size(lists[l]); i++) {
			judge->prometheus = json_array_get(lists[l], i);
			fn(judge);
		}
	}
}

/* The lists that show whether no Prometheus takes a monitor. */
static bool prometheuses_are_known(const struct cluster_facts *facts)
{
	return facts->prometheuses.is_whole && facts->agents.is_whole;
}

static void judge_endpoint(const struct scrape_judge *judge, const struct monitor *monitor,
			   const json_t *endpoint)
{
	const char *interval = kube_text(endpoint, "interval", KUBE_END);
	uint64_t interval_ns = DEFAULT_INTERVAL_NS;

	if (endpoint_scrapes(judge->facts, judge->set, monitor, endpoint) != CERTAINLY)
		return;
	if (!*interval)
		interval = kube_text(judge->prometheus, "spec", "scrapeInterval", KUBE_END);
	if (*interval && parse_duration_ns(interval, &interval_ns) < 0)
		return;
	judge_interval(judge, monitor, (double)interval_ns / (double)NSEC_PER_SEC);
}

static void judge_twice(struct scrape_judge *judge, const struct monitor *monitor)
{
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "scraped-twice",
		.why = "its series exist twice, with different labels: sums have all energy twice",
	};

	if (monitor_discards(monitor))
		return;
	if (!judge->its_first) {
		judge->kept = *monitor;
		judge->its_first = &judge->kept;
		return;
	}
	name_monitor(&draft, monitor);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "Prometheus %.60s/%.60s scrapes Kepler by %.60s already",
		       object_namespace(judge->prometheus), object_name(judge->prometheus),
		       object_name(judge->its_first->object));
	cluster_findings_add(judge->findings, &draft, NULL);
}

/* A monitor that the Prometheus may take. */
static void judge_pair(struct scrape_judge *judge, const struct monitor *monitor)
{
	const json_t *endpoints =
		kube_at(monitor->object, "spec", monitor->kind->endpoints, KUBE_END);
	enum certainty scrapes = monitor_scrapes(judge->facts, judge->set, monitor);
	enum certainty takes =
		prometheus_takes(judge->facts, judge->set, judge->prometheus, monitor);

	if (scrapes == CERTAINLY_NOT || takes == CERTAINLY_NOT)
		return;
	judge->scrapers++;
	if (scrapes != CERTAINLY || takes != CERTAINLY)
		return;
	judge_twice(judge, monitor);
	for (size_t i = 0; i < json_array_size(endpoints); i++)
		judge_endpoint(judge, monitor, json_array_get(endpoints, i));
	if (!monitor_discards(monitor)) /* what is left counts */
		judge_sample_limit(judge, monitor);
}

static void judge_prometheus(struct scrape_judge *judge)
{
	judge->its_first = NULL;
	each_monitor(judge, judge_pair);
}

/* One that was written for Kepler, and has no endpoint that scrapes it. */
static void judge_port(const struct scrape_judge *judge, const struct monitor *monitor,
		       const char *port)
{
	struct cluster_finding draft = { .level = FINDING_FIX, .id = "monitor-port-missing" };

	name_monitor(&draft, monitor);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "its endpoint names a port %.60s, which does not exist", port);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "Prometheus finds no target; the port of Kepler is called %s",
		       judge->set->port_name);
	cluster_findings_add(judge->findings, &draft, NULL);
}

static void judge_monitor(struct scrape_judge *judge, const struct monitor *monitor)
{
	bool is_ours = monitor_is_for_kepler(monitor);
	const char *port;

	if (monitor_scrapes(judge->facts, judge->set, monitor) > CERTAINLY_NOT) {
		/* One of another program counts if something takes it, or may. */
		judge->monitors += is_ours || !prometheuses_are_known(judge->facts);
		return;
	}
	port = monitor_missing_port(judge->facts, judge->set, monitor);
	if (!is_ours || !port)
		return;
	judge->monitors++;
	judge_port(judge, monitor, port);
}

static void judge_unselected(struct scrape_judge *judge, const struct monitor *monitor)
{
	const json_t *prometheus = json_array_get(judge->facts->prometheuses.items, 0);

	if (!prometheus)
		prometheus = json_array_get(judge->facts->agents.items, 0);
	if (prometheus && monitor_is_for_kepler(monitor) &&
	    monitor_scrapes(judge->facts, judge->set, monitor) > CERTAINLY_NOT)
		say_unselected(judge, monitor, prometheus);
}

/* It pushes, or may, or something else may scrape it: no monitor is needed. */
static bool gets_there_otherwise(const struct scrape_judge *judge)
{
	const struct exporter_settings *settings = &judge->set->settings;

	return settings->pushes || settings->are_partial ||
	       is_scraped_otherwise(judge->facts, judge->set);
}

/* Nothing scrapes, as all objects show it that could. */
static void judge_missing(const struct scrape_judge *judge)
{
	const struct cluster_facts *facts = judge->facts;
	const struct cluster_daemonset *set = judge->set;
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "monitor-missing",
		.what = "no PodMonitor or ServiceMonitor scrapes its port",
		.why = "the Prometheus operator is installed, and does not find Kepler; the "
		       "components podmonitor and servicemonitor of deploy/kubernetes find it",
		.command = "kubectl get podmonitors,servicemonitors --all-namespaces",
	};

	if (judge->monitors || !facts->pod_monitors.is_whole || !facts->service_monitors.is_whole ||
	    !set->services_are_known)
		return;
	cluster_finding_name(&draft, "DaemonSet", set->ns, set->name);
	cluster_findings_add(judge->findings, &draft, NULL);
}

static void judge_daemonset(struct scrape_judge *judge)
{
	each_prometheus(judge, judge_prometheus);
	each_monitor(judge, judge_monitor);
	if (judge->scrapers || gets_there_otherwise(judge))
		return;
	if (prometheuses_are_known(judge->facts))
		each_monitor(judge, judge_unselected);
	judge_missing(judge);
}

void judge_scrapes(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "prometheus-missing",
		.object = "cluster",
		.what = "the Prometheus operator is installed, and there is no Prometheus object",
		.why = "nothing scrapes by PodMonitors and ServiceMonitors",
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
	if (prometheuses_are_known(facts) && json_array_size(facts->prometheuses.items) == 0 &&
	    json_array_size(facts->agents.items) == 0)
		cluster_findings_add(findings, &draft, NULL);
}
