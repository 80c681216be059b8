/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machines the nodes of a Prometheus are, and of which nodes a collection is. Bounded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define ONLINE_NODES_MAX 256

struct online_nodes {
	char names[ONLINE_NODES_MAX][MODEL_NAME_MAX]; /* instances; "*" all others */
	struct machine_spec machines[ONLINE_NODES_MAX];
	size_t count;
};

/* From the option "machines"; "": all nodes are like this machine. 0 or -errno, diagnosed. */
int online_nodes_read(const char *path, struct online_nodes *ret, struct diag *diag);
/* NULL: the node is not one of them. */
const struct machine_spec *online_nodes_find(const struct online_nodes *nodes, const char *name);

struct online_instances {
	char names[ONLINE_NODES_MAX][MODEL_NAME_MAX];
	size_t count;
	uint64_t left_out; /* series of more instances than that */
};

/* The instances in a file of series, each once, "" for those without. 0 or -errno, diagnosed. */
int online_instances_find(const char *path, struct online_instances *ret, struct diag *diag);
