/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time of the whole machine, as the kernel accounts for it: proc_stat(5). */
#pragma once

/*
 * Seconds since boot in which all CPUs together were busy: user, nice, system, irq and softirq.
 * Negative: @procfs/stat cannot be read.
 */
double cpu_account_busy_s(const char *procfs);
