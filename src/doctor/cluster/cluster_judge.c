// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/cluster_judge.h"

#include "doctor/cluster/judge_pages.h"
#include "doctor/cluster/judge_pods.h"
#include "doctor/cluster/judge_rights.h"
#include "doctor/cluster/judge_scrapes.h"

void cluster_judge(const struct cluster_facts *facts, struct cluster_findings *findings)
{
	judge_rights(facts, findings);
	judge_pods(facts, findings);
	judge_pages(facts, findings);
	judge_scrapes(facts, findings);
	cluster_findings_sort(findings);
}
