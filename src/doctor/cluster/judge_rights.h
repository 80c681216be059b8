/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is Kepler there, may its service account read the names of pods, and could this doctor read what
 * it judges? Pure.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

void judge_rights(const struct cluster_facts *facts, struct cluster_findings *findings);
