// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_use.h"

#include <stdbool.h>

#include "base/num.h"

#define PER_CENT 100

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/*
 * Its busiest engine: a process that only encodes uses no SM. Some drivers have samples of over a
 * hundred per cent, of which nothing is right.
 */
static uint64_t activity_of(const struct nvml_process_sample *sample)
{
	unsigned per_cent = most(sample->sm, most(sample->encoder, sample->decoder));

	return per_cent <= PER_CENT ? per_cent : 0;
}

/* Of a process that has been there all the time: each sample stands for a part of it. */
static size_t samples_a_process(const struct nvml_process_sample *samples, size_t count)
{
	size_t largest = 1;

	for (size_t i = 0; i < count; i++) {
		size_t own = 0;

		for (size_t j = 0; j < count; j++)
			own += samples[j].pid == samples[i].pid;
		largest = own > largest ? own : largest;
	}
	return largest;
}

size_t nvml_use_of_samples(const struct nvml_process_sample *samples, size_t count, uint32_t device,
			   uint64_t elapsed_ns, struct device_use *ret)
{
	uint64_t per_sample_ns = elapsed_ns / samples_a_process(samples, count);
	size_t uses = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t busy_ns = muldiv_u64(per_sample_ns, activity_of(&samples[i]), PER_CENT);

		if (busy_ns)
			ret[uses++] = (struct device_use){ .device = device,
							   .pid = samples[i].pid,
							   .busy_ns = busy_ns };
	}
	return uses;
}

static uint64_t memory_of(const struct nvml_process *process)
{
	return process->memory_bytes == NVML_MEMORY_UNKNOWN ? 0 : process->memory_bytes;
}

static bool is_listed_before(const struct nvml_process *processes, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (processes[i].pid == processes[at].pid)
			return true;
	}
	return false;
}

size_t nvml_use_by_memory(const struct nvml_process *processes, size_t count, uint32_t device,
			  uint64_t busy_ns, struct device_use *ret)
{
	uint64_t sum = 0, left, left_ns = busy_ns;
	size_t uses = 0;
	bool equally;

	for (size_t i = 0; i < count; i++) {
		if (is_listed_before(processes, i))
			continue;
		sum += memory_of(&processes[i]) >> 10; /* KiB: sums of any boards fit */
		ret[uses++] = (struct device_use){ device, processes[i].pid,
						   memory_of(&processes[i]) >> 10 };
	}
	if (!uses) {
		ret[0] = (struct device_use){ .device = device, .busy_ns = busy_ns };
		return 1;
	}
	equally = sum == 0;
	left = equally ? uses : sum;
	for (size_t i = 0; i < uses; i++) {
		uint64_t weight = equally ? 1 : ret[i].busy_ns;

		ret[i].busy_ns = left ? muldiv_u64(left_ns, weight, left) : 0;
		left_ns -= ret[i].busy_ns;
		left -= weight;
	}
	return uses;
}
