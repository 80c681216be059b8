// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/model_use.h"

#include <stdio.h>
#include <string.h>

static void add(struct model_uses *uses, const char *zone, const char *place)
{
	for (size_t i = 0; i < uses->count; i++)
		if (strcmp(uses->items[i].zone, zone) == 0 &&
		    strncmp(uses->items[i].place, place, MODEL_NAME_MAX - 1) == 0)
			return;
	if (uses->count == MODEL_USES_MAX || strlen(zone) >= ENERGY_ZONE_MAX)
		return;
	struct model_use *use = &uses->items[uses->count++];
	(void)snprintf(use->zone, sizeof(use->zone), "%s", zone);
	(void)snprintf(use->place, sizeof(use->place), "%s", place);
}

void model_uses_take(struct model_uses *uses, const struct page_series *series)
{
	if (strcmp(series->name, "kepler_exporter_model_files_up") == 0 ||
	    strcmp(series->name, "kepler_exporter_model_fetch_up") == 0)
		uses->is_refused |= !(series->value > 0);
	if (strcmp(series->name, "kepler_zone_info") == 0 &&
	    strcmp(page_label(series, "quality"), "estimated") == 0)
		add(uses, page_label(series, "zone"), page_label(series, "path"));
}

const char *model_uses_other(const struct model_uses *uses, const char *zone, const char *place)
{
	for (size_t i = 0; i < uses->count; i++)
		if (strcmp(uses->items[i].zone, zone) == 0 &&
		    strncmp(uses->items[i].place, place, MODEL_NAME_MAX - 1) != 0)
			return uses->items[i].place;
	return NULL;
}
