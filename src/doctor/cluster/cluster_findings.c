// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/cluster_findings.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/cell_text.h"

void cluster_findings_clean(char *text, size_t size)
{
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT;

	(void)cell_text_add(&clean, text, size);
	(void)snprintf(text, size, "%s", clean.data ? clean.data : "");
}

void cluster_finding_name(struct cluster_finding *finding, const char *kind, const char *ns,
			  const char *name)
{
	(void)snprintf(finding->object, sizeof(finding->object), "%s %s/%s", kind, ns, name);
}

static struct cluster_finding *find(struct cluster_findings *findings,
				    const struct cluster_finding *draft)
{
	for (size_t i = 0; i < findings->count; i++) {
		struct cluster_finding *one = &findings->list[i];

		if (strcmp(one->id, draft->id) == 0 && strcmp(one->object, draft->object) == 0 &&
		    strcmp(one->what, draft->what) == 0)
			return one;
	}
	return NULL;
}

void cluster_findings_add(struct cluster_findings *findings, const struct cluster_finding *draft,
			  const char *node)
{
	struct cluster_finding clean = *draft, *finding;

	cluster_findings_clean(clean.object, sizeof(clean.object));
	cluster_findings_clean(clean.what, sizeof(clean.what));
	cluster_findings_clean(clean.why, sizeof(clean.why));
	cluster_findings_clean(clean.command, sizeof(clean.command));
	finding = find(findings, &clean);
	if (!finding && findings->count == CLUSTER_FINDINGS_MAX) {
		findings->left_out++;
		return;
	}
	if (!finding) {
		finding = &findings->list[findings->count++];
		*finding = clean;
		finding->node_count = 0;
	}
	if (!node)
		return;
	if (finding->node_count < FINDING_NODES_MAX)
		(void)snprintf(finding->nodes[finding->node_count],
			       sizeof(finding->nodes[finding->node_count]), "%s", node);
	finding->node_count++;
}

/* By insertion: there are few, and equal ones keep their order. */
void cluster_findings_sort(struct cluster_findings *findings)
{
	for (size_t i = 1; i < findings->count; i++) {
		struct cluster_finding moved = findings->list[i];
		size_t to = i;

		for (; to > 0 && findings->list[to - 1].level < moved.level; to--)
			findings->list[to] = findings->list[to - 1];
		findings->list[to] = moved;
	}
}

int cluster_findings_exit_status(const struct cluster_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->list[i].level >= FINDING_FIX)
			return 1;
	}
	return 0;
}
