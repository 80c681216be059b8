// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/catalog_counters.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *meaning;
	bool is_event;
	const char *unit; /* NULL: what the family has */
} counters[SIGNAL_COUNT] = {
	[SIGNAL_CPU_CYCLES] = { "cycles of the CPU, at the frequency that it had", false },
	[SIGNAL_REF_CYCLES] = { "cycles at a constant frequency, while not halted", false },
	[SIGNAL_INSTRUCTIONS] = { "instructions retired", false },
	[SIGNAL_CACHE_MISSES] = { "misses of the last level of cache", false },
	[SIGNAL_PAGE_CACHE_HITS] = { "pages that were found in the page cache", true },
	[SIGNAL_NET_TX_IRQ] = { "softirqs for packets that were sent", true },
	[SIGNAL_NET_RX_IRQ] = { "softirqs for packets that were received", true },
	[SIGNAL_BLOCK_IRQ] = { "softirqs for requests of block devices", true },
	[SIGNAL_NET_BYTES] = { "bytes sent and received over networks", false, "bytes" },
	[SIGNAL_BLOCK_BYTES] = { "bytes read from and written to block devices", false, "bytes" },
};

bool counter_is_event(enum signal signal)
{
	return counters[signal].is_event;
}

void counter_family(const struct family *family, enum signal signal, struct counter_family *ret)
{
	const char *hole = strstr(family->help, FAMILY_SIGNAL);
	int before = hole ? (int)(hole - family->help) : (int)strlen(family->help);

	ret->family = *family;
	(void)snprintf(ret->help, sizeof(ret->help), "%.*s%s%s", before, family->help,
		       hole ? counters[signal].meaning : "",
		       hole ? hole + strlen(FAMILY_SIGNAL) : "");
	ret->family.help = ret->help;
	if (counters[signal].unit)
		ret->family.unit = counters[signal].unit;
}

bool counter_is_of_family(const struct family *family, enum signal signal, unsigned schemas)
{
	if (!(family->schemas & SCHEMA_CURRENT))
		return counter_is_event(signal);
	return family->of != OF_ROWS_COUNTERS || !counter_is_event(signal) ||
	       schemas & SCHEMA_CURRENT;
}
