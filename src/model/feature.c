// SPDX-License-Identifier: Apache-2.0
#include "model/feature.h"

#include <string.h>

#include "base/macro.h"
#include "model/recent_mean.h"

static const struct feature features[] = {
	{ "bpf_cpu_time_ms", "ms/s", true, false, NULL },
	{ "bpf_cpu_time_us", "us/s", true, false, NULL },
	{ "bpf_page_cache_hit", "1/s", true, false, "--bpf.io=all" },
	{ "bpf_net_tx_irq", "1/s", true, false, "--bpf.io" },
	{ "bpf_net_rx_irq", "1/s", true, false, "--bpf.io" },
	{ "bpf_block_irq", "1/s", true, false, "--bpf.io" },
	{ "cpu_cycles", "1/s", true, false, "--counters.switches" },
	{ "cpu_instructions", "1/s", true, false, "--counters.switches" },
	{ "cache_miss", "1/s", true, false, "--counters.switches" },
	{ "cpu_ref_cycles", "1/s", true, false, "--counters.switches" },
	{ "cgroupfs_cpu_usage_us", "us/s", true, false, NULL },
	{ "cgroupfs_system_cpu_usage_us", "us/s", true, false, NULL },
	{ "cgroupfs_user_cpu_usage_us", "us/s", true, false, NULL },
	{ "cgroupfs_memory_usage_bytes", "bytes", false, false, NULL },
	{ "kubelet_cpu_usage", "s/s", true, false, NULL },
	{ "kubelet_memory_bytes", "bytes", false, false, NULL },
	{ "accelerator_intel_qat", "1/s", true, false, NULL },
	{ "cpu_scaling_frequency_hertz", "Hz", false, false, NULL },
	/* vCPUs waited, and did nothing meanwhile */
	{ "cpu_steal_seconds", "s/s", false, true, NULL },
	{ "node_info", "", false, false, NULL },
};

const struct feature_group feature_groups[] = {
	{ "AcceleratorOnly", { "accelerator_intel_qat" } },
	{ "BPFOnly", { "bpf_cpu_time_ms", "bpf_page_cache_hit" } },
	{ "KubeletOnly", { "kubelet_cpu_usage", "kubelet_memory_bytes" } },
	{ "CounterOnly", { "cache_miss", "cpu_cycles", "cpu_instructions" } },
	{ "CgroupOnly",
	  { "cgroupfs_cpu_usage_us", "cgroupfs_memory_usage_bytes", "cgroupfs_system_cpu_usage_us",
	    "cgroupfs_user_cpu_usage_us" } },
	{ "BPFIRQ",
	  { "bpf_block_irq", "bpf_cpu_time_ms", "bpf_net_rx_irq", "bpf_net_tx_irq",
	    "bpf_page_cache_hit" } },
	{ "Basic",
	  { "bpf_cpu_time_ms", "bpf_page_cache_hit", "cache_miss", "cpu_cycles",
	    "cpu_instructions" } },
	{ "CounterIRQCombined",
	  { "bpf_block_irq", "bpf_net_rx_irq", "bpf_net_tx_irq", "cache_miss", "cpu_cycles",
	    "cpu_instructions" } },
	{ "WorkloadOnly",
	  { "accelerator_intel_qat", "bpf_block_irq", "bpf_cpu_time_ms", "bpf_net_rx_irq",
	    "bpf_net_tx_irq", "bpf_page_cache_hit", "cache_miss", "cpu_cycles",
	    "cpu_instructions" } },
	{ "Full",
	  { "accelerator_intel_qat", "bpf_block_irq", "bpf_cpu_time_ms", "bpf_net_rx_irq",
	    "bpf_net_tx_irq", "bpf_page_cache_hit", "cache_miss", "cpu_cycles", "cpu_instructions",
	    "cpu_scaling_frequency_hertz", "node_info" } },
	{ NULL, { NULL } },
};

static const struct feature *find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (strncmp(features[i].name, name, len) == 0 && !features[i].name[len])
			return &features[i];
	}
	return NULL;
}

const struct feature *feature_find(const char *name)
{
	size_t len = recent_mean_parse(name, NULL);
	const struct feature *of_mean = len ? find(name, len) : NULL;

	return of_mean && of_mean->is_load ? of_mean : find(name, strlen(name));
}

const char *feature_option(const char *name)
{
	const struct feature *feature = feature_find(name);

	return feature && feature->option ? feature->option : "";
}

const char *feature_unit(const char *name)
{
	const struct feature *feature = feature_find(name);

	return feature ? feature->unit : "";
}

const struct feature_group *feature_group_find(const char *name)
{
	const struct feature_group *group = feature_groups;

	while (group->name && strcmp(group->name, name) != 0)
		group++;
	return group->name ? group : NULL;
}

static size_t index_of(const char *const *names, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static bool has_exactly(const struct feature_group *group, const char *const *names, size_t count)
{
	size_t i = 0;

	while (group->features[i] && index_of(names, count, group->features[i]) < count)
		i++;
	return !group->features[i] && i == count;
}

const struct feature_group *feature_group_of(const char *const *names, size_t count)
{
	const struct feature_group *group = feature_groups;

	while (group->name && !has_exactly(group, names, count))
		group++;
	return group->name ? group : NULL;
}

size_t feature_ratios(const char *const *names, size_t count, struct feature_ratio *ret)
{
	static const char *const pairs[][2] = {
		{ "cpu_cycles", "bpf_cpu_time_ms" },
		{ "cpu_cycles", "bpf_cpu_time_us" },
		{ "cpu_instructions", "cpu_cycles" },
		{ "cache_miss", "cpu_instructions" },
	};
	size_t found = 0;

	_Static_assert(ARRAY_SIZE(pairs) <= PREDICTOR_RATIOS_MAX, "a model can have all of them");
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		size_t numerator = index_of(names, count, pairs[i][0]);
		size_t denominator = index_of(names, count, pairs[i][1]);

		if (numerator < count && denominator < count)
			ret[found++] = (struct feature_ratio){ (uint16_t)numerator,
							       (uint16_t)denominator };
	}
	return found;
}

size_t feature_main(const char *const *names, size_t count, const char *component)
{
	bool dram = strcmp(component, "dram") == 0;
	size_t main = index_of(names, count, dram ? "bpf_page_cache_hit" : "bpf_cpu_time_ms");

	if (main == count)
		main = index_of(names, count, dram ? "cache_miss" : "cpu_instructions");
	return main < count ? main : 0;
}
