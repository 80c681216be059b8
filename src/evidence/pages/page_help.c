// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/page_help.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static enum page_help_unit unit_of(const char *metric)
{
	if (strstr(metric, "joule"))
		return HELP_ENERGY;
	return strstr(metric, "watt") ? HELP_POWER : HELP_OTHER;
}

void page_help_begin(struct page_help *help)
{
	help->count = 0;
}

void page_help_take(struct page_help *help, const char *metric, const char *text)
{
	const uint64_t hash = hash64_text(HASH64_START, text);
	const enum page_help_unit unit = unit_of(metric);

	if (*text == '\0' || help->count == PAGE_HELP_MAX)
		return;
	help->checked += unit != HELP_OTHER;
	for (size_t i = 0; i < help->count; i++)
		if (help->items[i].hash == hash && help->items[i].unit != unit) {
			exporter_fault_note(&help->copied, "%.80s and %.80s: \"%.60s\"",
					    help->items[i].metric, metric, text);
			break;
		}
	help->items[help->count].hash = hash;
	help->items[help->count].unit = unit;
	(void)snprintf(help->items[help->count].metric, sizeof(help->items[0].metric), "%s",
		       metric);
	help->count++;
}
