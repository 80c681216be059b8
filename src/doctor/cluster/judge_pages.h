/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What do the exporters' pages show? Meters and estimates, versions, schemas, limits, clocks. Pure.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

#define CLOCK_TOLERANCE_S 2.0

void judge_pages(const struct cluster_facts *facts, struct cluster_findings *findings);
/*
 * By how much the clock of @it is ahead of the clock of @other, both known relative to ours: at
 * least; negative if it is behind; 0 within CLOCK_TOLERANCE_S or if either is unknown.
 */
double clock_skew_s(const struct clock_offset *it, const struct clock_offset *other);
/* -1, 0 or 1: the order of two versions such as "0.9.1"; 0 if one has no number. */
int version_order(const char *one, const char *other);
