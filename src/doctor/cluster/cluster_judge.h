/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a cluster → findings. Pure. */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

/* Adds all findings, the worst first. */
void cluster_judge(const struct cluster_facts *facts, struct cluster_findings *findings);
