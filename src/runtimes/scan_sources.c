// SPDX-License-Identifier: Apache-2.0
/*
 * The order of the sources is their precedence: the first that knows a container names it. A source
 * that fails withdraws nothing: its names stay until it can be read again.
 */
#include "runtimes/scan_sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

static const struct {
	const char *name;
	int (*scan)(struct scan *scan);
} sources[] = {
	{ "containerd", scan_containerd },
	{ "podman", scan_storage },
	{ "cri-o", scan_crio },
	{ "docker", scan_docker },
	{ "docker-api", scan_docker_api },
	{ "podman-api", scan_podman_api },
};

static void add_present(struct runtimes_stats *stats, const char *name)
{
	size_t len = strlen(stats->present);

	(void)snprintf(stats->present + len, sizeof(stats->present) - len, "%s%s", len ? " " : "",
		       name);
}

/* Returns true if that runtime exists and was read. */
static bool run_source(struct scan *scan, unsigned rank)
{
	int r;

	scan->source = rank;
	scan->source_name = sources[rank].name;
	r = sources[rank].scan(scan);
	if (r == 0 || r == -ENOENT)
		return r == 0;
	name_table_keep_all(&scan->table, rank);
	if (r != -ECANCELED)
		scan->stats.failures++;
	if (r == -E2BIG)
		scan_error(scan, r, "more containers than the limit; the others are skipped");
	return r == -E2BIG;
}

void scan_sources_run(struct scan *scan, uint64_t now_ns)
{
	char before[sizeof(scan->stats.present)];
	bool present = false;

	memcpy(before, scan->stats.present, sizeof(before));
	scan->stats.present[0] = '\0';
	scan->stats.refused = scan->stats.sockets_down = 0;
	scan->budget = SCAN_CONTAINERS_MAX;
	name_table_begin(&scan->table);
	for (unsigned i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!run_source(scan, i))
			continue;
		add_present(&scan->stats, sources[i].name);
		present = true;
	}
	scan->stats.scans++;
	if (atomic_load_explicit(scan->stop, memory_order_relaxed)) {
		memcpy(scan->stats.present, before, sizeof(before));
		return;
	}
	name_table_end(&scan->table, now_ns);
	scan->stats.containers = scan->table.count;
	directory_set_reachable(scan->table.directory, DIRECTORY_RUNTIME, present);
}

void scan_sources_release(struct scan *scan)
{
	scan->docker_api = docker_api_free(scan->docker_api);
	scan->podman_api = docker_api_free(scan->podman_api);
	scan_release(scan);
}
