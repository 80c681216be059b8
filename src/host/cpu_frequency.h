/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frequency of each CPU, as SYSFS/devices/system/cpu/cpufreq reports it now: scaling_cur_freq
 * of a policy applies to all its CPUs (Documentation/admin-guide/pm/cpufreq.rst). On x86 the kernel
 * takes it from APERF and MPERF, since the last tick in which the CPU was busy; elsewhere many
 * drivers report the frequency that they have requested.
 *
 * It is one value at one time, and so a coarse substitute for cycles. A read asks firmware on some
 * machines: at most FREQUENCY_READS policies are read at once, in turn, and the others keep their
 * last value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FREQUENCY_POLICIES_MAX 1024
#define FREQUENCY_READS        64
#define FREQUENCY_CPUS_MAX     8192

/* The frequency of each CPU that has a policy. */
struct cpu_frequencies {
	uint32_t mean_khz;  /* of all of them; 0: none is known */
	uint32_t cpu_count; /* as many are in khz */
	uint32_t *khz;      /* 0: not known */
};

struct cpu_frequency;

/* 0 or -ENOMEM; a tree without policies has none. */
int cpu_frequency_open(const char *sysfs, struct cpu_frequency **ret);
void cpu_frequency_close(struct cpu_frequency *frequency);
/* Looks for policies again: CPUs have come or gone. 0 or -ENOMEM, then there are none. */
int cpu_frequency_scan(struct cpu_frequency *frequency);
/* Reads those whose turn it is. Whether any frequency is known. */
bool cpu_frequency_read(struct cpu_frequency *frequency);
/* The known frequencies; valid until the next call of the above. */
const struct cpu_frequencies *cpu_frequency_get(const struct cpu_frequency *frequency);

/* A copy, for another thread. 0 or -ENOMEM, then @to is as it was. */
int cpu_frequencies_copy(struct cpu_frequencies *to, const struct cpu_frequencies *from);
void cpu_frequencies_release(struct cpu_frequencies *frequencies);
/* That of @cpu, or the mean where it is not known; 0: none is known, also for NULL. */
static inline uint32_t cpu_frequencies_of(const struct cpu_frequencies *frequencies, uint32_t cpu)
{
	uint32_t khz = 0;

	if (!frequencies)
		return 0;
	if (cpu < frequencies->cpu_count)
		khz = frequencies->khz[cpu];
	return khz ? khz : frequencies->mean_khz;
}
/* The cycles of @run_ns on @cpu; 0 if no frequency is known. */
uint64_t cpu_frequencies_cycles(const struct cpu_frequencies *frequencies, uint32_t cpu,
				uint64_t run_ns);

/*
 * Pure: the numbers of CPUs in a policy's list, as "0 1 2\n" or "0-2,4\n"; how many, 0 when it is
 * not a list. Writes the first @max of them.
 */
size_t cpu_frequency_list(const char *text, unsigned *ret_cpus, size_t max);
