/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: amounts of work, other than CPU time, that indicate how much energy it took. Each signal
 * is a column of amounts, one per process or container, in an interval. Providers deliver columns;
 * each may be missing by itself, and a missing column is not 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/quantity.h"

enum signal {
	/*
	 * Run time that the context switches have shown, in ns. The signals from here to cache
	 * misses cover that time; the rest of the CPU time ran without being counted.
	 */
	SIGNAL_COUNTED_TIME,
	SIGNAL_PAIRED_TIME, /* of it, ns in which the core's other thread was busy, too */
	/* Rows have a sum of each signal from here on to SIGNALS_COUNTERS_LAST. */
	SIGNAL_CPU_CYCLES,   /* of the core, at the frequency that it had */
	SIGNAL_REF_CYCLES,   /* at a constant frequency, while not halted */
	SIGNAL_INSTRUCTIONS, /* retired */
	SIGNAL_CACHE_MISSES, /* of the last level */
	SIGNAL_PAGE_CACHE_HITS,
	SIGNAL_NET_TX_IRQ, /* softirqs */
	SIGNAL_NET_RX_IRQ,
	SIGNAL_BLOCK_IRQ,
	SIGNAL_NET_BYTES,   /* sent and received */
	SIGNAL_BLOCK_BYTES, /* read from and written to block devices */
	/* The others are shares, levels or times: their sum would mean nothing. */
	SIGNAL_SOFTIRQ_TIME,   /* ns in the three kinds of softirqs above, by what caused them */
	SIGNAL_MEMORY_TRAFFIC, /* bytes between the last level of cache and memory */
	SIGNAL_RESIDENT,       /* bytes of memory that are held */
	/*
	 * Cycles by run time × frequency, as cpufreq reports it when an interval ends: coarse, and
	 * a stand-in where the processor counts none.
	 */
	SIGNAL_FREQUENCY_TIME,
	SIGNAL_COUNT,
	SIGNALS_COUNTERS_FIRST = SIGNAL_CPU_CYCLES,
	SIGNALS_COUNTERS_LAST = SIGNAL_BLOCK_BYTES,
};

#define SIGNAL_BIT(signal) (1U << (signal))
/* Those that rows have a sum of: attribution/counters.h. */
#define SIGNALS_COUNTERS                                                                           \
	(SIGNAL_BIT(SIGNALS_COUNTERS_LAST + 1) - SIGNAL_BIT(SIGNALS_COUNTERS_FIRST))

extern const struct quantity signal_info[SIGNAL_COUNT];

/* Does the signal cover only the time that context switches have shown (SIGNAL_COUNTED_TIME)? */
static inline bool signal_is_of_counted_time(enum signal signal)
{
	return signal <= SIGNAL_CACHE_MISSES;
}

/* "cpu_cycles": as metrics and options name it. */
const char *signal_name(enum signal signal);
