/* SPDX-License-Identifier: Apache-2.0 */
/* Of an interval: the list of spans, in the order of zones, and the status of a remainder. */
#pragma once

#include <stddef.h>

#include "energy/remainder.h"
#include "energy/span.h"
#include "energy/zone.h"

/* Puts @span into @spans of *@count, which have room for one more, in the order of zones. */
void zone_spans_insert(struct energy_span *spans, size_t *count, const struct energy_span *span);
/* Of a remainder that had @before: it is known as far as all zones are that it is made of. */
struct zone_status zone_status_of_remainder(const struct remainder *remainder,
					    const struct zone_status *zones,
					    struct zone_status before);
