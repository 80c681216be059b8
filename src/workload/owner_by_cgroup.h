/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup id → owner. At the limit the half of the rows that was not used for longest is dropped. */
#pragma once

#include "workload/owner_table.h"

struct cgroup_cache {
	struct map map; /* cgroup id → index of rows */
	struct cgroup_row *rows;
	uint32_t count, size, limit;
	uint32_t swept_count; /* rows after the last sweep */
	struct owner_table *owners;
};

void cgroup_cache_init(struct cgroup_cache *cache, uint32_t limit, struct owner_table *owners);
void cgroup_cache_release(struct cgroup_cache *cache);
/* The owner, borrowed; NULL: not known. */
struct owner *cgroup_cache_find(struct cgroup_cache *cache, uint64_t cgroup_id, uint64_t now_ns);
/* Takes a reference of its own. Not cached when memory runs out. */
void cgroup_cache_put(struct cgroup_cache *cache, uint64_t cgroup_id, struct owner *owner,
		      uint64_t now_ns);
/* Once per interval: drops rows that were not used for minutes, when there are many. */
void cgroup_cache_sweep(struct cgroup_cache *cache, uint64_t now_ns);
