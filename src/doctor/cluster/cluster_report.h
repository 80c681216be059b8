/* SPDX-License-Identifier: Apache-2.0 */
/* The findings about a cluster and its nodes, printed for people and for machines. Pure. */
#pragma once

#include "base/strbuf.h"
#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

/* Text: what can be acted on, then groups of nodes that are alike; each node if view->verbose. */
void cluster_report_text(const struct cluster_facts *facts, const struct cluster_findings *findings,
			 const struct findings_view *view, struct strbuf *out);
/* docs/doctor-cluster.schema.json. */
void cluster_report_json(const struct cluster_facts *facts, const struct cluster_findings *findings,
			 struct strbuf *out);
