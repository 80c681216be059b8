// SPDX-License-Identifier: Apache-2.0
/*
 * Nodes with the same meters, version, schema and kubelet are one group, so that a cluster of a
 * thousand nodes takes a few lines.
 */
#include "doctor/cluster/cluster_report.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/wrap.h"
#include "doctor/cluster/judge_pages.h"

#define INDENT       6
#define NAMES_SHOWN  8
#define GROUPS_MAX   32
#define DESCRIBE_MAX 512

static const char *const level_names[] = { "show", "ok", "note", "fix", "fail" };
static const char *const level_marks[] = { "", "ok  ", "note", "FIX ", "FAIL" };

static const struct cluster_pod *page_of(const struct cluster_node *node)
{
	for (size_t i = 0; i < node->pod_count; i++) {
		if (node->pods[i].state == PAGE_READ)
			return &node->pods[i];
	}
	return NULL;
}

static const char *quality_of(const struct cluster_node *node)
{
	const struct cluster_pod *pod = page_of(node);

	if (!pod || !pod->page.is_ours)
		return "unknown";
	if (exporter_page_measures(&pod->page))
		return exporter_page_estimates(&pod->page) ? "both" : "measured";
	return exporter_page_estimates(&pod->page) ? "estimated" : "none";
}

static const char *schema_of(const struct exporter_page *page)
{
	if (page->has_classic)
		return page->has_current ? "both" : "classic";
	return page->has_current ? "current" : "unknown";
}

struct totals {
	size_t nodes, with_page, measured, estimated;
	uint64_t samples;
};

static struct totals totals_of(const struct cluster_facts *facts)
{
	struct totals totals = { .nodes = facts->node_count };

	for (size_t i = 0; i < facts->node_count; i++) {
		const struct cluster_pod *pod = page_of(&facts->nodes[i]);
		const char *quality = quality_of(&facts->nodes[i]);

		totals.with_page += pod != NULL;
		totals.samples += pod ? pod->page.samples : 0;
		totals.measured += strcmp(quality, "measured") == 0 || strcmp(quality, "both") == 0;
		totals.estimated += strcmp(quality, "estimated") == 0;
	}
	return totals;
}

/* ---- text ---- */

static void add_names(const struct cluster_finding *finding, struct strbuf *out)
{
	size_t shown = finding->node_count < NAMES_SHOWN ? finding->node_count : NAMES_SHOWN;

	for (size_t i = 0; i < shown; i++)
		strbuf_addf(out, "%s%s", i ? ", " : " ", finding->nodes[i]);
	if (finding->node_count > shown)
		strbuf_addf(out, " and %zu more", finding->node_count - shown);
}

static void add_finding(const struct cluster_finding *finding, const struct findings_view *view,
			struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s: %s.", finding->object, finding->what);
	if (finding->node_count) {
		strbuf_addf(&text, " On %zu node%s:", finding->node_count,
			    finding->node_count == 1 ? "" : "s");
		add_names(finding, &text);
		strbuf_add_char(&text, '.');
	}
	strbuf_addf(&text, " Why: %s.", finding->why);
	strbuf_addf(out, "%s  ", level_marks[finding->level]);
	wrap_text(out, text.data ? text.data : "", INDENT, INDENT, view->width);
	/* A command stays on one line, to be copied. */
	strbuf_addf(out, "\n%*s→ %s\n", INDENT, "", finding->command);
}

static void describe(const struct cluster_node *node, char buf[static DESCRIBE_MAX])
{
	const struct cluster_pod *pod = page_of(node);
	const struct exporter_page *page = pod ? &pod->page : NULL;
	size_t at;

	if (!page) {
		(void)snprintf(buf, DESCRIBE_MAX, "%s, kubelet %s",
			       node->pod_count ? "no page was read" : "no Kepler", node->kubelet);
		return;
	}
	at = (size_t)snprintf(buf, DESCRIBE_MAX, "%s", quality_of(node));
	for (size_t i = 0; i < page->zone_count && at < DESCRIBE_MAX; i++)
		at += (size_t)snprintf(buf + at, DESCRIBE_MAX - at, "%s %s (%s)", i ? "," : ":",
				       page->zones[i].zone, page->zones[i].source);
	if (at < DESCRIBE_MAX)
		(void)snprintf(buf + at, DESCRIBE_MAX - at, "; version %s, names %s, kubelet %s",
			       page->version, schema_of(page), node->kubelet);
}

struct group {
	char text[DESCRIBE_MAX];
	size_t count, least_samples, most_samples;
	const char *names[NAMES_SHOWN];
};

static struct group *group_of(struct group groups[], size_t *count, const char *text)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(groups[i].text, text) == 0)
			return &groups[i];
	}
	if (*count == GROUPS_MAX)
		return NULL;
	groups[*count] = (struct group){ .least_samples = SIZE_MAX };
	(void)snprintf(groups[*count].text, sizeof(groups[*count].text), "%s", text);
	return &groups[(*count)++];
}

static void take_node(struct group *group, const struct cluster_node *node)
{
	const struct cluster_pod *pod = page_of(node);
	size_t samples = pod ? pod->page.samples : 0;

	if (group->count < NAMES_SHOWN)
		group->names[group->count] = node->name;
	group->count++;
	if (samples < group->least_samples)
		group->least_samples = samples;
	if (samples > group->most_samples)
		group->most_samples = samples;
}

static void add_group(const struct group *group, struct strbuf *out)
{
	strbuf_addf(out, "  %zu node%s: %s", group->count, group->count == 1 ? "" : "s",
		    group->text);
	if (group->most_samples)
		strbuf_addf(out, ", %zu to %zu series a page", group->least_samples,
			    group->most_samples);
	strbuf_addf(out, "\n%*s", INDENT, "");
	for (size_t i = 0; i < group->count && i < NAMES_SHOWN; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", group->names[i]);
	if (group->count > NAMES_SHOWN)
		strbuf_addf(out, " and %zu more", group->count - NAMES_SHOWN);
	strbuf_add_char(out, '\n');
}

static void add_nodes(const struct cluster_facts *facts, bool verbose, struct strbuf *out)
{
	CLEANUP_FREE struct group *groups = calloc(GROUPS_MAX, sizeof(*groups));
	size_t count = 0, left_out = 0;

	if (!groups) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < facts->node_count; i++) {
		char text[DESCRIBE_MAX];
		struct group *group;

		describe(&facts->nodes[i], text);
		cluster_findings_clean(text, sizeof(text));
		if (verbose)
			strbuf_addf(out, "  %s: %s\n", facts->nodes[i].name, text);
		group = group_of(groups, &count, text);
		if (group)
			take_node(group, &facts->nodes[i]);
		else
			left_out++;
	}
	for (size_t i = 0; !verbose && i < count; i++)
		add_group(&groups[i], out);
	if (!verbose && left_out)
		strbuf_addf(out, "  %zu further nodes of other kinds: --verbose\n", left_out);
}

void cluster_report_text(const struct cluster_facts *facts, const struct cluster_findings *findings,
			 const struct findings_view *view, struct strbuf *out)
{
	struct totals totals = totals_of(facts);

	strbuf_addf(out,
		    "Kubernetes %s at %s: %zu node%s, %zu with a page of Kepler, %zu measured, %zu "
		    "estimated, %llu series.\n",
		    facts->version, facts->server, totals.nodes, totals.nodes == 1 ? "" : "s",
		    totals.with_page, totals.measured, totals.estimated,
		    (unsigned long long)totals.samples);
	if (findings->count == 0)
		strbuf_add_str(out, "Nothing needs to be fixed.\n");
	for (size_t i = 0; i < findings->count; i++)
		add_finding(&findings->list[i], view, out);
	if (findings->left_out)
		strbuf_addf(out, "%zu further findings are left out.\n", findings->left_out);
	strbuf_add_str(out, "nodes\n");
	add_nodes(facts, view->verbose, out);
}

/* ---- JSON ---- */

/* A number, or null. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Names of the API server are UTF-8; the text of a page or a peer may be cut within a character. */
static json_t *text(const char *value)
{
	json_t *string = json_string(value);

	return string ? string : json_string("?");
}

static json_t *finding_json(const struct cluster_finding *finding)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < finding->node_count && i < FINDING_NODES_MAX; i++)
		(void)json_array_append_new(nodes, text(finding->nodes[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I}", "level",
			 level_names[finding->level], "id", finding->id, "object",
			 text(finding->object), "what", text(finding->what), "why",
			 text(finding->why), "command", text(finding->command), "nodes", nodes,
			 "node_count", (json_int_t)finding->node_count);
}

static json_t *meters_json(const struct exporter_page *page)
{
	json_t *meters = json_array();

	for (size_t i = 0; i < page->zone_count; i++) {
		const struct page_zone *zone = &page->zones[i];
		const char *quality = zone->is_measured ? "measured" : "estimated";

		(void)json_array_append_new(
			meters,
			json_pack("{s:o, s:o, s:s, s:b}", "zone", text(zone->zone), "source",
				  text(zone->source), "quality",
				  zone->is_measured || zone->is_estimated ? quality : "unknown",
				  "up", !zone->is_down));
	}
	return meters;
}

static json_t *page_json(const struct cluster_pod *pod)
{
	const struct exporter_page *page = &pod->page;

	return json_pack("{s:o, s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "pod", text(pod->name),
			 "version", text(page->version), "schema", schema_of(page), "meters",
			 meters_json(page), "samples", (json_int_t)page->samples, "series_limit",
			 number(page->series_limit), "series_merged", number(page->merged),
			 "interval_seconds", number(page->interval_s), "settle_seconds",
			 number(page->settle_s));
}

static json_t *node_json(const struct cluster_facts *facts, const struct cluster_node *node)
{
	const struct cluster_pod *pod = page_of(node);
	double skew_s =
		pod && pod->clock.is_known ? clock_skew_s(&pod->clock, &facts->clock) : (double)NAN;

	return json_pack("{s:o, s:o, s:b, s:s, s:o, s:o}", "name", text(node->name), "kubelet",
			 text(node->kubelet), "ready", node->is_ready, "quality", quality_of(node),
			 "clock_skew_seconds", number(skew_s), "exporter",
			 pod ? page_json(pod) : json_null());
}

void cluster_report_json(const struct cluster_facts *facts, const struct cluster_findings *findings,
			 struct strbuf *out)
{
	struct totals totals = totals_of(facts);
	json_t *list = json_array(), *nodes = json_array(), *root;
	char *dump;

	for (size_t i = 0; i < findings->count; i++)
		(void)json_array_append_new(list, finding_json(&findings->list[i]));
	for (size_t i = 0; i < facts->node_count; i++)
		(void)json_array_append_new(nodes, node_json(facts, &facts->nodes[i]));
	root = json_pack("{s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "healthy",
			 cluster_findings_exit_status(findings) == 0, "server", text(facts->server),
			 "kubernetes", text(facts->version), "node_count",
			 (json_int_t)totals.nodes + (json_int_t)facts->nodes_left_out,
			 "measured_nodes", (json_int_t)totals.measured, "estimated_nodes",
			 (json_int_t)totals.estimated, "samples", (json_int_t)totals.samples,
			 "findings_left_out", (json_int_t)findings->left_out, "findings", list,
			 "nodes", nodes);
	dump = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (dump)
		strbuf_add_str(out, dump);
	else
		out->failed = true;
	strbuf_add_char(out, '\n');
	free(dump);
}
