/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Highest frequencies of CPUs (scaling_max_freq of cpufreq): their values, a limit for all of
 * them, and back. Documentation/admin-guide/pm/cpufreq.rst of the kernel.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct cpu_limit {
	uint32_t cpu;
	uint64_t max_khz; /* scaling_max_freq, as it was */
};

struct cpu_limits {
	char *sysfs; /* owned */
	struct cpu_limit *limits;
	size_t count, size;
	uint64_t lowest_khz, highest_khz; /* of the hardware, of all CPUs */
};

/* The CPUs' limits; none if the kernel does not scale frequencies. 0 or -ENOMEM. */
int cpu_limits_read(const char *sysfs, struct cpu_limits *ret);
/* Sets the limit of all: 0, or -errno with a diagnosis. */
int cpu_limits_set(const struct cpu_limits *limits, uint64_t max_khz, struct diag *diag);
/* Restores them; returns the number of CPUs for which that failed. */
size_t cpu_limits_restore(const struct cpu_limits *limits);
void cpu_limits_release(struct cpu_limits *limits);
