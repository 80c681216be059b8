// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/judge_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "doctor/cluster/settling.h"

#define STALLED_INTERVALS 5
#define STALLED_LEAST_S   30.0

struct judge {
	const struct cluster_facts *facts;
	struct cluster_findings *findings;
	const struct cluster_node *node;
	const struct cluster_daemonset *set;
	const struct cluster_pod *pod;
};

int version_order(const char *one, const char *other)
{
	one += strcspn(one, "0123456789");
	other += strcspn(other, "0123456789");
	while (*one && *other) {
		char *one_end, *other_end;
		unsigned long a = strtoul(one, &one_end, 10), b = strtoul(other, &other_end, 10);

		if (a != b)
			return a < b ? -1 : 1;
		if (*one_end != '.' || *other_end != '.')
			return 0;
		one = one_end + 1;
		other = other_end + 1;
	}
	return 0;
}

double clock_skew_s(const struct clock_offset *it, const struct clock_offset *other)
{
	double ahead = it->least_s - other->most_s, behind = other->least_s - it->most_s;

	if (!it->is_known || !other->is_known)
		return 0;
	if (ahead > CLOCK_TOLERANCE_S)
		return ahead;
	return behind > CLOCK_TOLERANCE_S ? -behind : 0;
}

/* The DaemonSet, unless a pod is the object. */
static struct cluster_finding draft_of(const struct judge *judge, enum finding_level level,
				       const char *id)
{
	struct cluster_finding draft = { .level = level, .id = id };

	cluster_finding_name(&draft, "DaemonSet", judge->set->ns, judge->set->name);
	return draft;
}

/* A fault of an exporter that has just begun, or is about to end, may pass. */
static void add(const struct judge *judge, struct cluster_finding *draft)
{
	if (pod_is_settling(judge->facts, judge->node, judge->pod))
		draft->level = FINDING_NOTE;
	cluster_findings_add(judge->findings, draft, judge->node->name);
}

static void ask_the_pod(const struct judge *judge, struct cluster_finding *draft)
{
	(void)snprintf(draft->command, sizeof(draft->command),
		       "kubectl -n %s exec %s -- kepler doctor", judge->set->ns, judge->pod->name);
}

static void judge_failure(const struct judge *judge)
{
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "page-unreadable");
	int status = judge->pod->status;

	if (status == 403) /* the API server's, a finding of its own */
		return;
	if (status == 401)
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a page needs credentials, which this doctor does not have");
	else if (status == 200)
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a page is not in the text format of Prometheus");
	else if (status)
		(void)snprintf(draft.what, sizeof(draft.what), "a page cannot be read: HTTP %d",
			       status);
	else
		(void)snprintf(draft.what, sizeof(draft.what), "a page cannot be read: no answer");
	if (status == 401)
		draft.level = FINDING_NOTE;
	(void)snprintf(draft.why, sizeof(draft.why),
		       "its node is not judged, and a scrape may fail as well: %s",
		       judge->pod->error);
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl get --raw /api/v1/namespaces/%s/pods/%s%s:%lld/proxy/metrics",
		       judge->set->ns, judge->set->is_https ? "https:" : "", judge->pod->name,
		       judge->set->port);
	add(judge, &draft);
}

static void judge_meters(const struct judge *judge)
{
	const struct exporter_page *page = &judge->pod->page;
	struct cluster_finding draft = draft_of(judge, FINDING_NOTE, "node-estimates");

	ask_the_pod(judge, &draft);
	for (size_t i = 0; i < page->zone_count; i++) {
		struct cluster_finding down = draft_of(judge, FINDING_FIX, "meter-down");

		if (!page->zones[i].is_down)
			continue;
		(void)snprintf(down.what, sizeof(down.what), "meter %s of zone %s does not answer",
			       page->zones[i].source, page->zones[i].zone);
		(void)snprintf(down.why, sizeof(down.why),
			       "its energy does not grow until a reading succeeds");
		ask_the_pod(judge, &down);
		add(judge, &down);
	}
	if (!page->is_ours || exporter_page_measures(page))
		return;
	(void)snprintf(draft.what, sizeof(draft.what), "a node has no meter, and is estimated");
	(void)snprintf(draft.why, sizeof(draft.why),
		       "a virtual machine, or no access to a meter: its numbers are marked as "
		       "estimates");
	if (!exporter_page_estimates(page)) {
		draft.level = FINDING_FIX;
		draft.id = "node-without-power";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a node has neither a meter nor an estimate");
		(void)snprintf(draft.why, sizeof(draft.why),
			       "the energy of the node and of its pods is in no number");
	}
	add(judge, &draft);
}

static void judge_names(const struct judge *judge)
{
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "names-missing");

	if (judge->pod->page.lacks_names) {
		(void)snprintf(draft.what, sizeof(draft.what),
			       "Kubernetes does not give names to an exporter");
		(void)snprintf(
			draft.why, sizeof(draft.why),
			"new containers and pods have ids and no names; its log has the error");
		(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s logs %s",
			       judge->set->ns, judge->pod->name);
		add(judge, &draft);
	}
	if (judge->pod->page.hides_processes > 0) {
		draft.id = "host-pid-missing";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a pod does not see the processes of "
			       "its node");
		(void)snprintf(draft.why, sizeof(draft.why),
			       "without hostPID virtual machines and, before Linux 6.7, all other "
			       "containers are not recognised");
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s patch daemonset %s -p "
			       "'{\"spec\":{\"template\":{\"spec\":{\"hostPID\":true}}}}'",
			       judge->set->ns, judge->set->name);
		add(judge, &draft);
	}
}

static void judge_series(const struct judge *judge)
{
	const struct exporter_page *page = &judge->pod->page;
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "series-limit-reached");

	if (!(page->merged > 0))
		return;
	(void)snprintf(draft.what, sizeof(draft.what),
		       "the limit of series (--metrics.max-series) was reached on a node");
	(void)snprintf(
		draft.why, sizeof(draft.why),
		"rows lost their own series early and are in retired ones: nothing is lost in "
		"sums, but %.0f rows cannot be told apart (limit %.0f)",
		page->merged, page->series_limit);
	ask_the_pod(judge, &draft);
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s set env daemonset %s KEPLER_METRICS_MAX_SERIES=%.0f",
		       judge->set->ns, judge->set->name, 2 * page->series_limit);
	if (isnan(page->series_limit))
		ask_the_pod(judge, &draft);
	add(judge, &draft);
}

/* Both times are of the node's clock. */
static void judge_pace(const struct judge *judge)
{
	const struct exporter_page *page = &judge->pod->page;
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "exporter-stalled");
	double age_s = judge->pod->page_date_s - page->snapshot_s;

	if (!(age_s > fmax(STALLED_LEAST_S, STALLED_INTERVALS * page->interval_s)))
		return;
	(void)snprintf(draft.what, sizeof(draft.what), "an exporter serves old numbers");
	(void)snprintf(draft.why, sizeof(draft.why),
		       "its last snapshot is %.0f s old, its interval %.3g s: the measuring loop "
		       "stands still",
		       age_s, page->interval_s);
	(void)snprintf(draft.command, sizeof(draft.command), "kubectl -n %s logs %s --tail=50",
		       judge->set->ns, judge->pod->name);
	add(judge, &draft);
}

static void judge_page(const struct judge *judge)
{
	const struct exporter_page *page = &judge->pod->page;
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "page-of-another-program");

	if (judge->pod->state == PAGE_FAILED)
		judge_failure(judge);
	if (judge->pod->state != PAGE_READ)
		return;
	if (!page->is_kepler) {
		(void)snprintf(draft.what, sizeof(draft.what), "a page is not one of Kepler");
		(void)snprintf(draft.why, sizeof(draft.why), "port %lld belongs to another program",
			       judge->set->port);
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s describe pod %s", judge->set->ns, judge->pod->name);
		add(judge, &draft);
		return;
	}
	judge_meters(judge);
	judge_names(judge);
	judge_series(judge);
	judge_pace(judge);
}

/* ---- comparisons between nodes ---- */

static const struct cluster_pod *page_of(const struct cluster_node *node)
{
	for (size_t i = 0; i < node->pod_count; i++) {
		if (node->pods[i].state == PAGE_READ && node->pods[i].page.is_kepler)
			return &node->pods[i];
	}
	return NULL;
}

static const char *newest_version(const struct cluster_facts *facts)
{
	const char *newest = "";

	for (size_t i = 0; i < facts->node_count; i++) {
		const struct cluster_pod *pod = page_of(&facts->nodes[i]);

		if (pod && (!*newest || version_order(newest, pod->page.version) < 0))
			newest = pod->page.version;
	}
	return newest;
}

/* A rollout makes nodes differ until it has reached all. */
static enum finding_level level_of_difference(const struct judge *judge)
{
	for (size_t i = 0; i < judge->facts->daemonset_count; i++) {
		if (rollout_goes_on(judge->facts, i))
			return FINDING_NOTE;
	}
	return FINDING_FIX;
}

static void judge_version(const struct judge *judge, const char *newest)
{
	const struct exporter_page *page = &judge->pod->page;
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "versions-differ");

	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s rollout restart daemonset %s", judge->set->ns,
		       judge->set->name);
	if (!page->is_ours) {
		draft.level = FINDING_NOTE;
		draft.id = "other-kepler";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a node runs another Kepler, version "
			       "%s",
			       page->version);
		(void)snprintf(draft.why, sizeof(draft.why),
			       "its page does not show meters, interval and limits: only names and "
			       "rights are judged");
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get daemonset %s -o wide", judge->set->ns,
			       judge->set->name);
	} else if (strcmp(page->version, newest) != 0) {
		draft.level = level_of_difference(judge);
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a node runs version %s, another node %s", page->version, newest);
		(void)snprintf(draft.why, sizeof(draft.why),
			       "nodes of different versions may count differently");
	} else if (version_order(page->version, judge->facts->own_version) < 0) {
		draft.level = FINDING_NOTE;
		draft.id = "version-old";
		(void)snprintf(draft.what, sizeof(draft.what),
			       "a node runs version %s, which is older than this doctor's %s",
			       page->version, judge->facts->own_version);
		(void)snprintf(draft.why, sizeof(draft.why), "CHANGELOG.md has the differences");
		(void)snprintf(draft.command, sizeof(draft.command),
			       "kubectl -n %s get daemonset %s -o wide", judge->set->ns,
			       judge->set->name);
	} else {
		return;
	}
	add(judge, &draft);
}

static unsigned schemas_of(const struct exporter_page *page)
{
	return (page->has_classic ? 1U : 0) | (page->has_current ? 2U : 0);
}

static void judge_schema(const struct judge *judge, unsigned all)
{
	static const char *const names[] = { "none", "classic", "current", "both" };
	struct cluster_finding draft = draft_of(judge, FINDING_FIX, "schemas-differ");
	unsigned own = schemas_of(&judge->pod->page);

	if (own == all)
		return;
	draft.level = level_of_difference(judge);
	(void)snprintf(draft.what, sizeof(draft.what),
		       "a node has metric names of schema %s, and other nodes have others",
		       names[own]);
	(void)snprintf(draft.why, sizeof(draft.why),
		       "a query by one schema's names leaves some nodes out of its sums");
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl -n %s set env daemonset %s KEPLER_METRICS_SCHEMA=both",
		       judge->set->ns, judge->set->name);
	add(judge, &draft);
}

/* A lease that is of the future shows a clock that is ahead, whether or not a page does. */
static double node_skew_s(const struct cluster_facts *facts, const struct cluster_node *node,
			  const struct cluster_pod *pod)
{
	struct clock_offset lease = { .is_known = !isnan(node->lease_age_s),
				      .least_s = -node->lease_age_s,
				      .most_s = (double)INFINITY };
	double skew_s = pod ? clock_skew_s(&pod->clock, &facts->clock) : 0;

	return fabs(skew_s) > 0 ? skew_s : clock_skew_s(&lease, &facts->clock);
}

static void judge_clock(const struct cluster_facts *facts, const struct cluster_node *node,
			struct cluster_findings *findings)
{
	double skew_s = node_skew_s(facts, node, page_of(node));
	struct cluster_finding draft = {
		.level = FINDING_FIX,
		.id = "clock-skew",
		.object = "cluster",
	};

	if (!(fabs(skew_s) > 0))
		return;
	(void)snprintf(draft.what, sizeof(draft.what),
		       "the clock of a node is %s the API server's by more than %.0f s",
		       skew_s > 0 ? "ahead of" : "behind", CLOCK_TOLERANCE_S);
	(void)snprintf(
		draft.why, sizeof(draft.why),
		"it is off by at least %.1f s: times of snapshots, and of pushed samples, are "
		"wrong",
		fabs(skew_s));
	(void)snprintf(draft.command, sizeof(draft.command),
		       "kubectl debug node/%s -it --image=busybox -- chroot /host timedatectl",
		       node->name);
	cluster_findings_add(findings, &draft, node->name);
}

static void judge_own_clock(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	const struct clock_offset ours = { .is_known = true };
	double skew_s = clock_skew_s(&ours, &facts->clock);
	struct cluster_finding draft = {
		.level = FINDING_NOTE,
		.id = "own-clock-skew",
		.object = "this doctor",
		.why = "nodes are compared with the API server's clock, so they are judged "
		       "nevertheless",
		.command = "timedatectl",
	};

	if (!(fabs(skew_s) > 0))
		return;
	(void)snprintf(draft.what, sizeof(draft.what),
		       "the clock of this machine is %.0f s %s the API server's", fabs(skew_s),
		       skew_s > 0 ? "ahead of" : "behind");
	cluster_findings_add(findings, &draft, NULL);
}

void judge_pages(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	const char *newest = newest_version(facts);
	unsigned all = 0;

	for (size_t i = 0; i < facts->node_count; i++) {
		const struct cluster_pod *pod = page_of(&facts->nodes[i]);

		if (pod)
			all |= schemas_of(&pod->page);
	}
	judge_own_clock(facts, findings);
	for (size_t i = 0; i < facts->node_count; i++) {
		const struct cluster_node *node = &facts->nodes[i];

		judge_clock(facts, node, findings);
		for (size_t p = 0; p < node->pod_count; p++) {
			const struct cluster_pod *pod = &node->pods[p];
			const struct judge judge = { facts, findings, node,
						     &facts->daemonsets[pod->daemonset], pod };

			judge_page(&judge);
			if (pod->state != PAGE_READ || !pod->page.is_kepler)
				continue;
			judge_version(&judge, newest);
			judge_schema(&judge, all);
		}
	}
}
