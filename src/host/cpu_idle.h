/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how long CPUs were in each idle state, as SYSFS/devices/system/cpu/cpuN/cpuidle/stateM/time
 * has it (Documentation/admin-guide/pm/cpuidle.rst): a sum over all CPUs for each name of a state.
 * The kernel shows the state that it has requested; the hardware may have used a shallower one.
 *
 * Sums begin at 0 with the first reading, and never fall: CPUs come and go, and one whose time
 * falls starts again. At most CPU_IDLE_READS files are read at once, in turn.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_IDLE_STATES_MAX 12 /* names; the kernel has 10 states of a CPU at most */
#define CPU_IDLE_NAME_MAX   16 /* as the kernel's, with the terminator */
#define CPU_IDLE_READS      256
#define CPU_IDLE_FILES_MAX  32768

struct cpu_idle_state {
	char name[CPU_IDLE_NAME_MAX]; /* "C6": printable, without quotes and backslashes */
	uint64_t time_us;
};

struct cpu_idle;

/* 0 or -ENOMEM; a tree without states has none. */
int cpu_idle_open(const char *sysfs, struct cpu_idle **ret);
void cpu_idle_close(struct cpu_idle *idle);
/* Looks for states if CPUs have come or gone since the last time. 0 or -ENOMEM: then as before. */
int cpu_idle_scan(struct cpu_idle *idle);
/* Reads those whose turn it is. Whether there is any state. */
bool cpu_idle_read(struct cpu_idle *idle);
/* In the order in which they were found; valid until the next call of the above. */
const struct cpu_idle_state *cpu_idle_list(const struct cpu_idle *idle, size_t *ret_count);
