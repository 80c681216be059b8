// SPDX-License-Identifier: Apache-2.0
#include "energy/deviation.h"

#include <math.h>

static void begin(struct deviations *deviations, size_t count, uint64_t now_ns)
{
	deviations->begun_ns = now_ns;
	deviations->count = count;
	for (size_t z = 0; z < count; z++) {
		struct deviation_sum *sum = &deviations->zone[z];

		sum->energy_uj = sum->read_ns = 0;
		sum->is_broken = false;
	}
}

/* Is the energy of @part all of the energy that @whole counts? */
static bool is_all_of(const struct zone *part, const struct zone *whole)
{
	return part->kind == whole->kind && part->quality == QUALITY_MEASURED &&
	       whole->quality == QUALITY_MEASURED && (whole->instance[0] || !part->instance[0]);
}

/* In W; NaN where too little of the window is known. */
static double power_of(const struct deviation_sum *sum, uint64_t window_ns)
{
	if (sum->is_broken || sum->read_ns < window_ns / 4 * 3)
		return (double)NAN;
	return (double)sum->energy_uj * 1e3 / (double)sum->read_ns;
}

static void judge(struct deviations *deviations, const struct contender *contenders, size_t z,
		  uint64_t window_ns)
{
	struct deviation_sum *sum = &deviations->zone[z];
	double charged_w = 0;

	sum->is_known = false;
	if (contenders[z].standing == STANDING_COUNTS)
		return;
	for (size_t i = 0; i < deviations->count; i++) {
		if (contenders[i].standing != STANDING_COUNTS ||
		    !rank_are_rivals(contenders[i].zone, contenders[z].zone))
			continue;
		if (!is_all_of(contenders[z].zone, contenders[i].zone))
			return;
		charged_w += power_of(&deviations->zone[i], window_ns);
	}
	sum->ratio = power_of(sum, window_ns) / charged_w - 1;
	sum->is_known = isfinite(sum->ratio) && charged_w > 0;
}

static void add(struct deviations *deviations, const struct energy_span *spans, size_t span_count)
{
	for (size_t i = 0; i < span_count; i++) {
		const struct energy_span *span = &spans[i];
		struct deviation_sum *sum;

		if (span->zone >= deviations->count)
			continue;
		sum = &deviations->zone[span->zone];
		/* Before its first reading nothing was known, and nothing is lost. */
		sum->is_broken |= !span->known && span->from_ns;
		if (!span->known)
			continue;
		sum->energy_uj += span->energy_uj;
		sum->read_ns += span->to_ns - span->from_ns;
	}
}

void deviations_add(struct deviations *deviations, const struct contender *contenders, size_t count,
		    const struct energy_span *spans, size_t span_count, uint64_t now_ns)
{
	uint64_t window_ns = now_ns - deviations->begun_ns;
	bool is_first = !deviations->had_window;

	if (!deviations->begun_ns || deviations->count != count) {
		begin(deviations, count, now_ns);
		return;
	}
	add(deviations, spans, span_count);
	if (window_ns < (is_first ? DEVIATION_FIRST_NS : DEVIATION_WINDOW_NS))
		return;
	for (size_t z = 0; z < count; z++)
		judge(deviations, contenders, z, window_ns);
	if (window_ns < DEVIATION_WINDOW_NS)
		return;
	deviations->had_window = true;
	begin(deviations, count, now_ns);
}

double deviations_ratio(const struct deviations *deviations, size_t z)
{
	const struct deviation_sum *sum = &deviations->zone[z];

	return z < deviations->count && sum->is_known ? sum->ratio : (double)NAN;
}
