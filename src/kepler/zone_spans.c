// SPDX-License-Identifier: Apache-2.0
#include "kepler/zone_spans.h"

#include <string.h>

void zone_spans_insert(struct energy_span *spans, size_t *count, const struct energy_span *span)
{
	size_t at = 0;

	while (at < *count && spans[at].zone < span->zone)
		at++;
	memmove(spans + at + 1, spans + at, (*count - at) * sizeof(*spans));
	spans[at] = *span;
	(*count)++;
}

struct zone_status zone_status_of_remainder(const struct remainder *remainder,
					    const struct zone_status *zones,
					    struct zone_status before)
{
	struct zone_status status = before;

	status.state = remainder_exists(remainder) ? ZONE_UP : ZONE_ABSENT;
	status.error = 0;
	for (size_t i = 0; status.state == ZONE_UP && i < remainder->count; i++) {
		const struct zone_status *one = &zones[remainder->curves[i].zone];

		status.state = one->state;
		status.error = one->error;
	}
	status.errors += status.state != ZONE_UP;
	return status;
}
