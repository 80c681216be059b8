// SPDX-License-Identifier: Apache-2.0
/*
 * The input of `kepler doctor --cluster` from an API server and exporters: an object with a list of
 * each kind of object, the text of a configuration file, and the pages of the pods in the order of
 * the nodes. The judgement of any input is the same each time, each finding has a command, and no
 * control character of another program reaches the terminal.
 */
#include <stdint.h>

#include "base/macro.h"
#include "doctor/cluster/cluster_judge.h"
#include "doctor/cluster/cluster_report.h"
#include "doctor/cluster/label_selector.h"
#include "kube/json_bounded.h"

#define NOW_S 1.79e9

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_all(const json_t *input, struct cluster_facts *facts)
{
	const json_t *nodes = kube_at(input, "nodes", KUBE_END);
	const json_t *sets = kube_at(input, "daemonsets", KUBE_END);
	const json_t *pods = kube_at(input, "pods", KUBE_END);
	const json_t *leases = kube_at(input, "leases", KUBE_END);

	for (size_t i = 0; i < json_array_size(nodes); i++)
		(void)cluster_facts_take_node(facts, json_array_get(nodes, i));
	for (size_t i = 0; i < json_array_size(sets); i++)
		(void)cluster_facts_take_daemonset(facts, json_array_get(sets, i));
	for (size_t i = 0; i < json_array_size(pods); i++) {
		for (size_t set = 0; set < facts->daemonset_count; set++)
			(void)cluster_facts_take_pod(facts, set, json_array_get(pods, i));
	}
	for (size_t i = 0; i < json_array_size(leases); i++)
		cluster_facts_take_lease(facts, json_array_get(leases, i), NOW_S);
}

static void take_list(const json_t *input, const char *kind, struct cluster_list *ret)
{
	json_t *items = kube_at(input, kind, KUBE_END);

	/* An API server's list is an array, or the kind is unknown. */
	ret->items = json_is_array(items) ? json_incref(items) : NULL;
	ret->is_whole = true;
}

static void take_settings(const json_t *input, struct cluster_daemonset *set)
{
	const char *file = kube_text(input, "config", KUBE_END);
	const struct settings_place place = exporter_settings_place(set->pod_spec, set->container);
	struct strbuf query = STRBUF_INIT;
	struct diag diag = { "" };

	set->pods_are_known = set->services_are_known = true;
	set->settings.are_partial |= place.is_elsewhere;
	(void)exporter_settings_read(set->container, file, strlen(file), &set->settings, &diag);
	label_selector_query(kube_at(set->object, "spec", "selector", KUBE_END), &query);
	strbuf_release(&query);
}

/* A text is the page of a pod, anything else one that could not be read. */
static void take_page(const json_t *page, struct cluster_pod *pod)
{
	struct diag diag = { "" };
	int r = -1;

	pod->clock = (struct clock_offset){ true, -0.5, 0.5 };
	pod->page_date_s = NOW_S;
	if (json_is_string(page))
		r = exporter_page_read(json_string_value(page), json_string_length(page),
				       &pod->page, &diag);
	pod->state = r == 0 ? PAGE_READ : PAGE_FAILED;
	pod->status = r == 0 ? 200 : 0;
	if (r < 0)
		(void)snprintf(pod->error, sizeof(pod->error), "%.150s", diag.text);
}

static void take_pages(const json_t *pages, struct cluster_facts *facts)
{
	size_t next = 0;

	for (size_t i = 0; i < facts->node_count; i++) {
		for (size_t k = 0; k < facts->nodes[i].pod_count; k++)
			take_page(json_array_get(pages, next++), &facts->nodes[i].pods[k]);
	}
}

static void read_input(const json_t *input, struct cluster_facts *facts)
{
	*facts = (struct cluster_facts){ .own_version = "0.1.0", .now_s = NOW_S };
	facts->clock = (struct clock_offset){ true, -0.5, 0.5 };
	facts->daemonsets_are_known = true;
	take_all(input, facts);
	take_list(input, "podmonitors", &facts->pod_monitors);
	take_list(input, "servicemonitors", &facts->service_monitors);
	take_list(input, "prometheuses", &facts->prometheuses);
	take_list(input, "agents", &facts->agents);
	take_list(input, "namespaces", &facts->namespaces);
	take_list(input, "services", &facts->services);
	facts->has_operator = facts->pod_monitors.items || facts->service_monitors.items;
	for (size_t i = 0; i < facts->daemonset_count; i++)
		take_settings(input, &facts->daemonsets[i]);
	take_pages(kube_at(input, "pages", KUBE_END), facts);
}

/* Names are fit for a URL and for a terminal. */
static void check_names(const struct cluster_facts *facts)
{
	for (size_t i = 0; i < facts->node_count; i++) {
		if (!kube_is_name(facts->nodes[i].name))
			abort();
		for (size_t k = 0; k < facts->nodes[i].pod_count; k++) {
			if (!kube_is_name(facts->nodes[i].pods[k].name))
				abort();
		}
	}
	for (size_t i = 0; i < facts->daemonset_count; i++) {
		if (!kube_is_name(facts->daemonsets[i].ns) ||
		    !kube_is_name(facts->daemonsets[i].name))
			abort();
	}
}

static void check_same(const struct cluster_findings *one, const struct cluster_findings *other)
{
	if (one->count != other->count || one->left_out != other->left_out)
		abort();
	for (size_t i = 0; i < one->count; i++) {
		if (strcmp(one->list[i].id, other->list[i].id) != 0 ||
		    strcmp(one->list[i].what, other->list[i].what) != 0 ||
		    strcmp(one->list[i].command, other->list[i].command) != 0 ||
		    one->list[i].node_count != other->list[i].node_count)
			abort();
	}
}

static void check_findings(const struct cluster_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct cluster_finding *one = &findings->list[i];

		if (!*one->id || !*one->object || !*one->what || !*one->why || !*one->command)
			abort();
		if (i && findings->list[i - 1].level < one->level)
			abort();
	}
}

/* Texts as a terminal gets them: lines, without control characters. */
static void check_text(const struct strbuf *out)
{
	for (size_t i = 0; i < out->len; i++) {
		if (((unsigned char)out->data[i] < ' ' && out->data[i] != '\n') ||
		    out->data[i] == '\x7f')
			abort();
	}
}

static void report(const struct cluster_facts *facts, const struct cluster_findings *findings)
{
	struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
	struct findings_view view = { .verbose = true, .width = 80 };
	json_t *root;

	cluster_report_text(facts, findings, &view, &text);
	check_text(&text);
	cluster_report_json(facts, findings, &json);
	root = strbuf_error(&json) < 0 ? NULL : json_loadb(json.data, json.len, 0, NULL);
	if (!root || json_array_size(json_object_get(root, "findings")) != findings->count ||
	    json_array_size(json_object_get(root, "nodes")) != facts->node_count)
		abort();
	json_decref(root);
	strbuf_release(&text);
	strbuf_release(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster_findings *findings = calloc(2, sizeof(*findings));
	struct cluster_facts *facts = calloc(1, sizeof(*facts));
	json_t *input = json_parse_bounded((const char *)data, size);

	if (findings && facts) {
		read_input(input, facts);
		check_names(facts);
		cluster_judge(facts, &findings[0]);
		cluster_judge(facts, &findings[1]);
		check_same(&findings[0], &findings[1]);
		check_findings(&findings[0]);
		report(facts, &findings[0]);
		cluster_facts_release(facts);
	}
	json_decref(input);
	free(findings);
	free(facts);
	return 0;
}
