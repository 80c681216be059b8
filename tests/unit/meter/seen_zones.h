/* SPDX-License-Identifier: Apache-2.0 */
/* Zones as a table of meters reported them, pass by pass: spans are added up. */
#pragma once

#include "base/num.h"
#include "meter/meter_table.h"
#include "tests/unit/unit.h"

struct seen_zone {
	enum zone_state state;
	enum zone_caveat caveat;
	int error;
	uint64_t reads, errors, dropped, wraps;
	uint64_t energy_uj;      /* the sum of its spans */
	uint64_t time_ns;        /* the end of the last one; 0: none yet */
	struct energy_span span; /* of this pass; to_ns 0: none */
};

static inline void see_span(struct seen_zone *zone, const struct energy_span *span)
{
	assert_int_equal(span->from_ns, zone->time_ns); /* no hole, and nothing twice */
	assert_true(span->to_ns > span->from_ns);
	assert_true(span->known || span->energy_uj == 0);
	assert_true(span->known ? zone->time_ns > 0 : true);
	zone->span = *span;
	zone->energy_uj += span->energy_uj;
	zone->time_ns = span->to_ns;
}

/* One pass; the number of zones that are up. */
static inline size_t see_zones(struct meter_table *table, struct seen_zone *zones)
{
	struct meter_pass pass;
	size_t up = meter_table_read(table, &pass);

	assert_int_equal(pass.zone_count, meter_table_count(table));
	for (size_t z = 0; z < pass.zone_count; z++) {
		const struct zone_status *status = &pass.status[z];

		zones[z].state = status->state;
		zones[z].caveat = status->caveat;
		zones[z].error = status->error;
		zones[z].reads = status->reads;
		zones[z].errors = status->errors;
		zones[z].dropped = status->dropped;
		zones[z].wraps = status->wraps;
		zones[z].span = (struct energy_span){ 0 };
	}
	for (size_t i = 0; i < pass.span_count; i++) {
		assert_true(i == 0 || pass.spans[i].zone > pass.spans[i - 1].zone);
		see_span(&zones[pass.spans[i].zone], &pass.spans[i]);
	}
	return up;
}
