/* SPDX-License-Identifier: Apache-2.0 */
/* Does each node have one Kepler that runs? DaemonSets, taints, images, crashes. Pure. */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

void judge_pods(const struct cluster_facts *facts, struct cluster_findings *findings);
