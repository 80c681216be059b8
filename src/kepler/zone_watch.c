// SPDX-License-Identifier: Apache-2.0
#include "kepler/zone_watch.h"

#include "base/log.h"

/* One may be a reset; so many in a row mean that the limit is wrong, or the counter. */
#define REFUSALS_IN_A_ROW 3

static void look_at_refusals(struct zone_watch *watch, const struct interval_engine *engine,
			     size_t index)
{
	const struct zone *zone = interval_engine_zone(engine, index);
	const struct zone_reading *reading = interval_engine_reading(engine, index);

	if (watch->refused[index] || reading->refusals < REFUSALS_IN_A_ROW)
		return;
	watch->refused[index] = true;
	log_warn("energy of %s-%s (%s) is not counted: %llu readings in a row mean more power "
		 "than is believed of such a zone, or come so late that its counter may have gone "
		 "round unseen; if the machine can draw that much, raise --meter.max-watts",
		 zone->name, zone->package, zone->path, (unsigned long long)reading->refusals);
}

void zone_watch_look(struct zone_watch *watch, const struct interval_engine *engine)
{
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++)
		look_at_refusals(watch, engine, z);
}
