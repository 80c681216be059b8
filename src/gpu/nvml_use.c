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
 * hundred per cent, which are wrong altogether.
 */
static uint64_t activity_of(const struct nvml_process_sample *sample)
{
	unsigned per_cent = most(sample->sm, most(sample->encoder, sample->decoder));

	return per_cent <= PER_CENT ? per_cent : 0;
}

/* The samples of a process that existed all the time; each stands for a part of the time. */
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

/* Busy times are weights before, and @sum is their sum; without any all are equal. */
static void split(struct device_use *uses, size_t count, uint64_t sum, uint64_t busy_ns)
{
	uint64_t left = sum ? sum : count, left_ns = busy_ns;

	for (size_t i = 0; i < count; i++) {
		uint64_t weight = sum ? uses[i].busy_ns : 1;

		uses[i].busy_ns = left ? muldiv_u64(left_ns, weight, left) : 0;
		left_ns -= uses[i].busy_ns;
		left -= weight;
	}
}

size_t nvml_use_by_memory(const struct nvml_process *processes, size_t count, uint32_t device,
			  uint64_t busy_ns, struct device_use *ret)
{
	uint64_t sum = 0;
	size_t uses = 0;

	for (size_t i = 0; i < count; i++) {
		if (is_listed_before(processes, i))
			continue;
		sum += memory_of(&processes[i]) >> 10; /* KiB: sums of any boards fit */
		ret[uses++] = (struct device_use){ .device = device,
						   .pid = processes[i].pid,
						   .busy_ns = memory_of(&processes[i]) >> 10 };
	}
	if (!uses) {
		ret[0] = (struct device_use){ .device = device, .busy_ns = busy_ns };
		return 1;
	}
	split(ret, uses, sum, busy_ns);
	return uses;
}

size_t nvml_use_by_samples(const struct nvml_process_sample *samples, size_t count, uint32_t device,
			   uint64_t busy_ns, struct device_use *ret)
{
	size_t uses = nvml_use_of_samples(samples, count, device, PER_CENT * count, ret);
	uint64_t sum = 0;

	for (size_t i = 0; i < uses; i++)
		sum += ret[i].busy_ns;
	split(ret, uses, sum, busy_ns);
	return uses;
}

size_t nvml_use_of_holders(const struct nvml_process *processes, size_t count, uint32_t device,
			   uint32_t held, struct device_use *ret)
{
	size_t uses = 0;

	for (size_t i = 0; i < count; i++) {
		if (processes[i].pid && !is_listed_before(processes, i))
			ret[uses++] =
				(struct device_use){ .device = device, .pid = processes[i].pid };
	}
	for (size_t i = 0; i < uses; i++)
		ret[i].held = held / (uint32_t)uses;
	return uses;
}

size_t nvml_processes_of(struct nvml_process *processes, size_t count, uint32_t gpu_instance)
{
	size_t own = 0;

	for (size_t i = 0; i < count; i++) {
		struct nvml_process process = processes[i];

		if (process.gpu_instance != gpu_instance)
			continue;
		processes[i] = processes[own];
		processes[own++] = process;
	}
	return own;
}
