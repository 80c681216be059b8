/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the Prometheus of the operator scrape Kepler, and how often? PodMonitors, ServiceMonitors,
 * the selectors of Prometheus and PrometheusAgent objects, intervals and limits of samples
 * (prometheus-operator, Documentation/api-reference/api.md). Pure.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

void judge_scrapes(const struct cluster_facts *facts, struct cluster_findings *findings);
