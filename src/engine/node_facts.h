/* SPDX-License-Identifier: Apache-2.0 */
/* The facts in a snapshot that stay the same while the program runs. */
#pragma once

#include "host/host.h"
#include "snapshot/snapshot.h"

void node_facts_init(struct snapshot_node *node, const struct host_info *host, double start_time_s);
/*
 * Which CPUs PROCFS/cpuinfo has now; none where it cannot be read. Returns their list, which is to
 * be freed when no snapshot with @node is left; or NULL.
 */
struct snapshot_cpu *node_facts_cpus(struct snapshot_node *node, const char *procfs);
