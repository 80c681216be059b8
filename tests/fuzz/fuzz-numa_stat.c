// SPDX-License-Identifier: Apache-2.0
/* A cgroup's memory.numa_stat: no node has more than all of them together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workload/numa_stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t nodes[NUMA_NODES_MAX], sum, left;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (int is_v2 = 0; is_v2 < 2; is_v2++) {
		if (numa_stat_parse(text, is_v2, nodes, &sum) != (sum > 0))
			abort();
		left = sum;
		for (size_t node = 0; node < NUMA_NODES_MAX; node++) {
			if (nodes[node] > left)
				abort();
			left -= nodes[node];
		}
	}
	free(text);
	return 0;
}
