// SPDX-License-Identifier: Apache-2.0
#include "energy/signal.h"

const char *signal_name(enum signal signal)
{
	static const char *const names[SIGNAL_COUNT] = {
		[SIGNAL_COUNTED_TIME] = "counted_time",
		[SIGNAL_PAIRED_TIME] = "paired_time",
		[SIGNAL_CPU_CYCLES] = "cpu_cycles",
		[SIGNAL_REF_CYCLES] = "cpu_ref_cycles",
		[SIGNAL_INSTRUCTIONS] = "cpu_instructions",
		[SIGNAL_CACHE_MISSES] = "cache_miss",
		[SIGNAL_PAGE_CACHE_HITS] = "page_cache_hit",
		[SIGNAL_NET_TX_IRQ] = "net_tx_irq",
		[SIGNAL_NET_RX_IRQ] = "net_rx_irq",
		[SIGNAL_BLOCK_IRQ] = "block_irq",
		[SIGNAL_SOFTIRQ_TIME] = "softirq_time",
		[SIGNAL_NET_BYTES] = "net_bytes",
		[SIGNAL_BLOCK_BYTES] = "block_bytes",
		[SIGNAL_MEMORY_TRAFFIC] = "memory_traffic",
		[SIGNAL_RESIDENT] = "resident",
		[SIGNAL_FREQUENCY_TIME] = "frequency_time",
	};

	return names[signal];
}
