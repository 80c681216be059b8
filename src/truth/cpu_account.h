/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time of the whole machine, by both of the kernel's accounts. One samples the CPUs at each
 * tick (proc_stat(5)); ticks are missed while a hypervisor does not run a virtual CPU. The other is
 * the scheduler's, by its clock, at each switch (Documentation/scheduler/sched-stats.rst).
 */
#pragma once

/*
 * Seconds since boot in which all CPUs together were busy: user, nice, system, irq and softirq.
 * Negative: @procfs/stat cannot be read.
 */
double cpu_account_busy_s(const char *procfs);
/*
 * Seconds since boot that tasks ran on all CPUs together. Negative: @procfs/schedstat cannot be
 * read, as without CONFIG_SCHEDSTATS.
 */
double cpu_account_task_s(const char *procfs);
