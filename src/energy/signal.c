// SPDX-License-Identifier: Apache-2.0
#include "energy/signal.h"

const struct quantity signal_info[SIGNAL_COUNT] = {
	[SIGNAL_COUNTED_TIME] = { "counted_time" },
	[SIGNAL_PAIRED_TIME] = { "paired_time" },
	[SIGNAL_CPU_CYCLES] = { "cpu_cycles", "cycles of the CPU, at the frequency that it had" },
	[SIGNAL_REF_CYCLES] = { "cpu_ref_cycles",
				"cycles at a constant frequency, while not halted" },
	[SIGNAL_INSTRUCTIONS] = { "cpu_instructions", "instructions retired" },
	[SIGNAL_CACHE_MISSES] = { "cache_miss", "misses of the last level of cache" },
	[SIGNAL_PAGE_CACHE_HITS] = { "page_cache_hit", "pages that were found in the page cache",
				     .is_event = true },
	[SIGNAL_NET_TX_IRQ] = { "net_tx_irq", "softirqs for packets that were sent",
				.is_event = true },
	[SIGNAL_NET_RX_IRQ] = { "net_rx_irq", "softirqs for packets that were received",
				.is_event = true },
	[SIGNAL_BLOCK_IRQ] = { "block_irq", "softirqs for requests of block devices",
			       .is_event = true },
	[SIGNAL_NET_BYTES] = { "net_bytes", "bytes sent and received over networks", "bytes" },
	[SIGNAL_BLOCK_BYTES] = { "block_bytes", "bytes read from and written to block devices",
				 "bytes" },
	[SIGNAL_SOFTIRQ_TIME] = { "softirq_time" },
	[SIGNAL_MEMORY_TRAFFIC] = { "memory_traffic" },
	[SIGNAL_RESIDENT] = { "resident" },
	[SIGNAL_FREQUENCY_TIME] = { "frequency_time" },
};

const char *signal_name(enum signal signal)
{
	return signal_info[signal].name;
}
