// SPDX-License-Identifier: Apache-2.0
/* /proc/cpuinfo, and the same bytes as lists of CPUs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpu_frequency.h"
#include "host/cpuinfo.h"
#include "host/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cpuinfo_cpu *cpus;
	struct cpuinfo info;
	unsigned numbers[16];
	size_t count;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (cpuinfo_parse(text, &info) == 0 && info.sockets > info.cores)
		abort();
	if (cpuinfo_list(text, &cpus, &count) == 0)
		free(cpus);
	(void)topology_count_cpus(text);
	if (cpu_frequency_list(text, numbers, 16) > 16)
		abort();
	free(text);
	return 0;
}
