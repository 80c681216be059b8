// SPDX-License-Identifier: Apache-2.0
/* Files of the perf PMU "power" in sysfs: an event's config, its scale, a list of CPUs. */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "host/topology.h"
#include "meter/rapl/rapl_pmu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t config, unit;
	unsigned cpus[8];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (rapl_pmu_config_parse(text, (ssize_t)size, &config) == 0 &&
	    (config > 0xff || text[size - 1] != '\n'))
		abort();
	if (rapl_pmu_scale_parse(text, (ssize_t)size, &unit) == 0 &&
	    rapl_pmu_energy_uj(UINT64_MAX, unit) > rapl_pmu_range_uj(unit))
		abort();
	if (topology_list_cpus(text, cpus, ARRAY_SIZE(cpus)) > ARRAY_SIZE(cpus))
		abort();
	free(text);
	return 0;
}
