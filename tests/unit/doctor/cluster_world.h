/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A healthy cluster as facts, from the same texts that an API server and exporters send: three
 * nodes with Kepler, scraped by a Prometheus of the operator. A test breaks one thing in it.
 */
#pragma once

#include "doctor/cluster/cluster_facts.h"
#include "doctor/cluster/cluster_findings.h"

#define WORLD_NODES 3
#define WORLD_NOW_S 1000000.0 /* 1970-01-12T13:46:40Z, when it was read */

struct world {
	struct cluster_facts facts;
	struct cluster_findings findings;
};

struct world *world_new(void);
void world_free(struct world *world);
/* The only pod of the node with that index. */
struct cluster_pod *world_pod(struct world *world, size_t node);
/* Replaces the DaemonSet, whose specification of pods has @pod_spec besides its container. */
void world_set_daemonset(struct world *world, const char *pod_spec, const char *container_more);
/* Replaces the taints, and takes the node's pod away. */
void world_set_taints(struct world *world, size_t node, const char *taints);
void world_set_page(struct world *world, size_t node, const char *page);
/* An array of objects of the text, which takes the place of *@list. */
void world_set_list(json_t **list, const char *text);
/* Judges, and returns the only finding; fails if there is none, or another one. */
const struct cluster_finding *world_only(struct world *world, const char *id);
/* Judges: there is no finding. */
void world_expect_healthy(struct world *world);
