/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the CPU time that the host counted for this machine with the time that the machine's own
 * CPUs were busy. The host's has emulation and I/O threads in it; the machine's own has stolen time
 * in it if the hypervisor does not report that as steal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PASSTHROUGH_CPU_TOLERANCE 0.05 /* a larger deviation is reported */

struct passthrough_cpu {
	bool has_begun;
	uint64_t begun_ns, host_us, own_us; /* where the window began */
	/* In the last whole window; 0: none yet, or the machine was nearly idle in it. */
	uint64_t compared_host_us, compared_own_us;
};

#define PASSTHROUGH_EMPTY_US 30000000 /* so much work without energy is not possible */

/* The machine's own work in an account that has no energy. All zero: it has not begun. */
struct passthrough_empty {
	bool has_begun;
	uint64_t begun_us;
};

/* The busy time of all CPUs by PROCFS/stat, without steal, cumulative: 0 or -errno. */
int passthrough_own_cpu(const char *procfs, uint64_t *ret_us);
/* Cumulative times of one moment, with a record that follows the one before it in its epoch. */
void passthrough_cpu_compare(struct passthrough_cpu *cpu, uint64_t now_ns, uint64_t host_us,
			     uint64_t own_us);
/*
 * Returns true if the account has never had any energy during work of PASSTHROUGH_EMPTY_US.
 * @has_energy: any has ever been counted; @own_us: the cumulative time of passthrough_own_cpu().
 */
bool passthrough_is_empty(struct passthrough_empty *empty, bool has_energy, uint64_t own_us);
/* How much more the host counted, as a part of the own time: 0.05 is 5 %. NaN: not known. */
double passthrough_cpu_deviation(uint64_t host_us, uint64_t own_us);
