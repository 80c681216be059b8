// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_frequency.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/topology.h"

#define PATH_BYTES 4096
#define LIST_BYTES 8192
/* A frequency that no CPU reaches: a higher value is invalid. */
#define KHZ_MAX 20000000U

struct policy {
	uint32_t number; /* of its directory */
	uint32_t khz;    /* 0: not known */
	uint32_t first;  /* its CPUs, in the list of all */
	uint32_t count;
};

struct cpu_frequency {
	char dir[PATH_BYTES];
	struct policy *policies;
	uint32_t policy_count, policy_size;
	uint32_t next; /* whose turn it is */
	unsigned *cpus;
	uint32_t cpu_count, cpu_size;
	struct cpu_frequencies known;
};

int cpu_frequency_open(const char *sysfs, struct cpu_frequency **ret)
{
	struct cpu_frequency *frequency = calloc(1, sizeof(*frequency));

	if (!frequency)
		return -ENOMEM;
	if (path_join(frequency->dir, sizeof(frequency->dir), sysfs, "devices/system/cpu/cpufreq") <
	    0)
		frequency->dir[0] = '\0';
	*ret = frequency;
	return 0;
}

void cpu_frequency_close(struct cpu_frequency *frequency)
{
	if (!frequency)
		return;
	cpu_frequencies_release(&frequency->known);
	free(frequency->policies);
	free(frequency->cpus);
	free(frequency);
}

size_t cpu_frequency_list(const char *text, unsigned *ret_cpus, size_t max)
{
	size_t count = 0;

	if (!strchr(text, ' '))
		return topology_list_cpus(text, ret_cpus, max);
	while (*text && *text != '\n') {
		size_t len = strcspn(text, " \n");
		uint64_t cpu;

		if (parse_u64(text, len, &cpu) < 0 || cpu >= FREQUENCY_CPUS_MAX)
			return 0;
		if (count < max)
			ret_cpus[count++] = (unsigned)cpu;
		text += len;
		text += strspn(text, " ");
	}
	return count;
}

static ssize_t read_of_policy(const struct cpu_frequency *frequency, uint32_t number,
			      const char *name, char *text, size_t size)
{
	char path[PATH_BYTES + 64];

	(void)snprintf(path, sizeof(path), "%s/policy%u/%s", frequency->dir, number, name);
	return read_file_nowait_at(AT_FDCWD, path, text, size);
}

/* 0 or -ENOMEM; one without CPUs that are online is left out. */
static int add_policy(struct cpu_frequency *frequency, uint32_t number)
{
	unsigned cpus[FREQUENCY_READS * 8];
	struct policy policy = { .number = number, .first = frequency->cpu_count };
	char text[LIST_BYTES];

	if (read_of_policy(frequency, number, "affected_cpus", text, sizeof(text)) <= 0)
		return 0;
	policy.count = (uint32_t)cpu_frequency_list(text, cpus, ARRAY_SIZE(cpus));
	if (!policy.count || policy.first + policy.count > FREQUENCY_CPUS_MAX)
		return 0;
	if (ARRAY_RESERVE(frequency->cpus, frequency->cpu_size, policy.first + policy.count) < 0 ||
	    ARRAY_RESERVE(frequency->policies, frequency->policy_size,
			  frequency->policy_count + 1U) < 0)
		return -ENOMEM;
	memcpy(frequency->cpus + policy.first, cpus, policy.count * sizeof(*cpus));
	frequency->cpu_count += policy.count;
	frequency->policies[frequency->policy_count++] = policy;
	return 0;
}

static void forget_all(struct cpu_frequency *frequency)
{
	frequency->policy_count = frequency->cpu_count = frequency->next = 0;
	frequency->known.mean_khz = 0;
	if (frequency->known.cpu_count)
		memset(frequency->known.khz, 0,
		       frequency->known.cpu_count * sizeof(*frequency->known.khz));
}

/* Room for each CPU of the policies. */
static int reserve_known(struct cpu_frequency *frequency)
{
	struct cpu_frequencies *known = &frequency->known;
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < frequency->cpu_count; i++) {
		if (frequency->cpus[i] >= wanted)
			wanted = frequency->cpus[i] + 1;
	}
	if (wanted <= known->cpu_count)
		return 0;
	if (ARRAY_RESIZE(known->khz, wanted) < 0)
		return -ENOMEM;
	memset(known->khz + known->cpu_count, 0, (wanted - known->cpu_count) * sizeof(*known->khz));
	known->cpu_count = wanted;
	return 0;
}

int cpu_frequency_scan(struct cpu_frequency *frequency)
{
	DIR *dir = opendir(frequency->dir);
	const struct dirent *entry;
	int r = 0;

	forget_all(frequency);
	while (dir && r == 0 && frequency->policy_count < FREQUENCY_POLICIES_MAX &&
	       (entry = readdir(dir))) {
		uint64_t number;

		if (strncmp(entry->d_name, "policy", 6) == 0 &&
		    parse_u64(entry->d_name + 6, strlen(entry->d_name + 6), &number) == 0 &&
		    number < FREQUENCY_CPUS_MAX)
			r = add_policy(frequency, (uint32_t)number);
	}
	if (dir)
		(void)closedir(dir);
	if (r == 0)
		r = reserve_known(frequency);
	if (r < 0)
		forget_all(frequency);
	return r;
}

static uint32_t read_khz(const struct cpu_frequency *frequency, uint32_t number)
{
	char text[32];
	ssize_t len = read_of_policy(frequency, number, "scaling_cur_freq", text, sizeof(text));
	uint64_t khz;

	/* "<unknown>" where a driver cannot say. */
	if (len <= 0 || parse_u64(text, (size_t)len, &khz) < 0 || khz > KHZ_MAX)
		return 0;
	return (uint32_t)khz;
}

static void take_known(struct cpu_frequency *frequency)
{
	uint64_t sum_khz = 0, count = 0;

	for (uint32_t i = 0; i < frequency->policy_count; i++) {
		const struct policy *policy = &frequency->policies[i];

		for (uint32_t c = 0; c < policy->count; c++)
			frequency->known.khz[frequency->cpus[policy->first + c]] = policy->khz;
		sum_khz += (uint64_t)policy->khz * policy->count;
		count += policy->khz ? policy->count : 0;
	}
	frequency->known.mean_khz = count ? (uint32_t)(sum_khz / count) : 0;
}

bool cpu_frequency_read(struct cpu_frequency *frequency)
{
	uint32_t reads = frequency->policy_count < FREQUENCY_READS ? frequency->policy_count
								   : FREQUENCY_READS;

	for (; reads; reads--) {
		struct policy *policy = &frequency->policies[frequency->next];

		policy->khz = read_khz(frequency, policy->number);
		frequency->next = (frequency->next + 1) % frequency->policy_count;
	}
	take_known(frequency);
	return frequency->known.mean_khz != 0;
}

const struct cpu_frequencies *cpu_frequency_get(const struct cpu_frequency *frequency)
{
	return &frequency->known;
}

int cpu_frequencies_copy(struct cpu_frequencies *to, const struct cpu_frequencies *from)
{
	if (from->cpu_count > to->cpu_count && ARRAY_RESIZE(to->khz, from->cpu_count) < 0)
		return -ENOMEM;
	if (from->cpu_count)
		memcpy(to->khz, from->khz, from->cpu_count * sizeof(*to->khz));
	to->cpu_count = from->cpu_count;
	to->mean_khz = from->mean_khz;
	return 0;
}

void cpu_frequencies_release(struct cpu_frequencies *frequencies)
{
	free(frequencies->khz);
	*frequencies = (struct cpu_frequencies){ 0 };
}

uint64_t cpu_frequencies_cycles(const struct cpu_frequencies *frequencies, uint32_t cpu,
				uint64_t run_ns)
{
	return muldiv_u64(run_ns, cpu_frequencies_of(frequencies, cpu), NSEC_PER_MSEC);
}
