/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The upper limit of the CPUs' frequency, scaling_max_freq of each policy of cpufreq
 * (Documentation/admin-guide/pm/cpufreq.rst).
 *
 * Only a guard restores the limits: a process of its own, which waits until this program ends or
 * asks for it. So they are restored in the same way after SIGINT, an error or SIGKILL.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FREQUENCY_POLICIES_MAX 1024
#define FREQUENCY_PATH_MAX     128

struct frequency_policy {
	char path[FREQUENCY_PATH_MAX]; /* of its scaling_max_freq */
	uint64_t low_khz, high_khz;    /* of the hardware */
	uint64_t before_khz;
};

struct frequency {
	struct frequency_policy policies[FREQUENCY_POLICIES_MAX];
	size_t count;
	int guard_fd; /* as long as it is open, the guard waits */
	pid_t guard;  /* 0: none */
};

/* Why the limits below @sysfs cannot be changed, a sentence; NULL: they can. */
const char *frequency_obstacle(const char *sysfs);
/*
 * Reads the limits of all policies and starts the guard. 0 or -errno; -E2BIG for more policies than
 * there is room for.
 */
int frequency_open(const char *sysfs, struct frequency *ret);
/*
 * Limits all policies to @part of their highest frequency, but not below their lowest; 0: to what
 * they were limited to before. 0 or -errno.
 */
int frequency_limit(const struct frequency *frequency, double part);
/* Has the guard restore the limits and waits for it. 0, also if it is not open; -EIO: it failed. */
int frequency_restore(struct frequency *frequency);
