// SPDX-License-Identifier: Apache-2.0
#include "energy/remainder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

static bool counts(const struct contender *contender, enum zone_kind kind)
{
	return contender->standing == STANDING_COUNTS && contender->zone->kind == kind;
}

/* Whether some zone of @kind counts, and none of them is estimated. */
static bool is_measured(const struct contender *contenders, size_t count, enum zone_kind kind)
{
	bool some = false;

	for (size_t z = 0; z < count; z++) {
		if (!counts(&contenders[z], kind))
			continue;
		if (contenders[z].zone->quality != QUALITY_MEASURED)
			return false;
		some = true;
	}
	return some;
}

/* Whether it is in the remainder, and as what. */
static bool takes_part(const struct contender *contender, bool has_psys, bool *ret_is_whole)
{
	enum zone_kind kind = contender->zone->kind;

	if (!counts(contender, kind))
		return false;
	*ret_is_whole = kind == ZONE_PLATFORM;
	if (has_psys)
		return kind == ZONE_PLATFORM || kind == ZONE_PSYS;
	return kind == ZONE_PLATFORM || kind == ZONE_PACKAGE || kind == ZONE_DRAM ||
	       kind == ZONE_GPU;
}

int remainder_follow(struct remainder *remainder, const struct contender *contenders, size_t count)
{
	bool has_psys = is_measured(contenders, count, ZONE_PSYS);
	bool exists = is_measured(contenders, count, ZONE_PLATFORM) &&
		      (has_psys || is_measured(contenders, count, ZONE_PACKAGE));
	bool is_same = true, is_whole;
	size_t taken = 0;

	for (size_t z = 0; exists && z < count; z++)
		taken += takes_part(&contenders[z], has_psys, &is_whole);
	if (ARRAY_RESERVE(remainder->curves, remainder->size, taken) < 0)
		return -ENOMEM;
	is_same = taken == remainder->count;
	taken = 0;
	for (uint32_t z = 0; exists && z < count; z++) {
		struct remainder_curve *curve = &remainder->curves[taken];

		if (!takes_part(&contenders[z], has_psys, &is_whole))
			continue;
		if (taken++ < remainder->count && curve->zone == z)
			continue;
		is_same = false;
		curve->zone = z;
		curve->is_whole = is_whole;
		curve->count = 0;
	}
	remainder->count = taken;
	if (!is_same)
		remainder->has_begun = false;
	return 0;
}

bool remainder_exists(const struct remainder *remainder)
{
	return remainder->count > 0;
}

bool remainder_has_part(const struct remainder *remainder, size_t zone)
{
	bool has = false;

	for (size_t i = 0; i < remainder->count; i++)
		has |= remainder->curves[i].zone == zone && !remainder->curves[i].is_whole;
	return has;
}

/* Of a full curve every second point; the first and the last stay. */
static void thin_out(struct remainder_curve *curve)
{
	size_t kept = 1;

	for (size_t i = 2; i + 1 < curve->count; i += 2, kept++) {
		curve->time_ns[kept] = curve->time_ns[i];
		curve->energy_uj[kept] = curve->energy_uj[i];
	}
	curve->time_ns[kept] = curve->time_ns[curve->count - 1];
	curve->energy_uj[kept] = curve->energy_uj[curve->count - 1];
	curve->count = kept + 1;
}

/* False where nothing is known of the time before the span's end: the curve begins there. */
static bool append(struct remainder_curve *curve, const struct energy_span *span)
{
	bool goes_on =
		span->known && curve->count && curve->time_ns[curve->count - 1] == span->from_ns;
	uint64_t energy_uj = goes_on ? curve->energy_uj[curve->count - 1] + span->energy_uj : 0;

	if (!goes_on)
		curve->count = 0;
	if (curve->count == REMAINDER_POINTS)
		thin_out(curve);
	curve->time_ns[curve->count] = span->to_ns;
	curve->energy_uj[curve->count++] = energy_uj;
	return goes_on;
}

static void take(struct remainder *remainder, const struct energy_span *spans, size_t span_count)
{
	size_t next = 0;

	for (size_t i = 0; i < span_count; i++) {
		while (next < remainder->count && remainder->curves[next].zone < spans[i].zone)
			next++;
		if (next == remainder->count)
			return;
		if (remainder->curves[next].zone == spans[i].zone &&
		    !append(&remainder->curves[next], &spans[i]))
			remainder->has_begun = false;
	}
}

/* Where the curve is at @at_ns, which is between its first point and its last. */
static uint64_t energy_at(const struct remainder_curve *curve, uint64_t at_ns)
{
	size_t behind = 0;
	uint64_t from_ns, from_uj;

	while (curve->time_ns[behind] < at_ns)
		behind++;
	if (curve->time_ns[behind] == at_ns)
		return curve->energy_uj[behind];
	from_ns = curve->time_ns[behind - 1];
	from_uj = curve->energy_uj[behind - 1];
	return from_uj + muldiv_u64(curve->energy_uj[behind] - from_uj, at_ns - from_ns,
				    curve->time_ns[behind] - from_ns);
}

/* The curve begins at @from_ns; what was before is used up, and returned. */
static uint64_t use_up(struct remainder_curve *curve, uint64_t from_ns)
{
	uint64_t from_uj = energy_at(curve, from_ns), used_uj = from_uj - curve->energy_uj[0];
	size_t kept = 1, next = 0;

	while (next < curve->count && curve->time_ns[next] <= from_ns)
		next++;
	for (; next < curve->count; next++, kept++) {
		curve->time_ns[kept] = curve->time_ns[next];
		curve->energy_uj[kept] = curve->energy_uj[next];
	}
	curve->time_ns[0] = from_ns;
	curve->energy_uj[0] = from_uj;
	curve->count = kept;
	return used_uj;
}

/* What all curves have in common; false where that is nothing. */
static bool common_time(const struct remainder *remainder, uint64_t *ret_from_ns,
			uint64_t *ret_to_ns)
{
	*ret_from_ns = 0;
	*ret_to_ns = UINT64_MAX;
	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];

		if (!curve->count)
			return false;
		if (curve->time_ns[0] > *ret_from_ns)
			*ret_from_ns = curve->time_ns[0];
		if (curve->time_ns[curve->count - 1] < *ret_to_ns)
			*ret_to_ns = curve->time_ns[curve->count - 1];
	}
	return remainder->count && *ret_from_ns <= *ret_to_ns;
}

/* The energy of all curves up to @to_ns; what the parts have too much is owed. */
static uint64_t settle(struct remainder *remainder, uint64_t to_ns)
{
	uint64_t whole_uj = 0, parts_uj = remainder->debt_uj;

	for (size_t i = 0; i < remainder->count; i++) {
		uint64_t used_uj = use_up(&remainder->curves[i], to_ns);

		*(remainder->curves[i].is_whole ? &whole_uj : &parts_uj) += used_uj;
	}
	remainder->debt_uj = parts_uj > whole_uj ? parts_uj - whole_uj : 0;
	return whole_uj > parts_uj ? whole_uj - parts_uj : 0;
}

bool remainder_advance(struct remainder *remainder, const struct energy_span *spans,
		       size_t span_count, struct energy_span *ret)
{
	uint64_t from_ns, to_ns;

	take(remainder, spans, span_count);
	if (!common_time(remainder, &from_ns, &to_ns))
		return false;
	*ret = (struct energy_span){ .from_ns = remainder->from_ns };
	if (remainder->has_begun && to_ns <= remainder->from_ns)
		return false;
	if (remainder->has_begun) {
		ret->known = true;
		ret->to_ns = to_ns;
		ret->energy_uj = settle(remainder, to_ns);
	} else {
		/* What is behind from_ns is in the next span. */
		if (from_ns <= remainder->from_ns)
			from_ns = to_ns;
		if (from_ns <= remainder->from_ns)
			return false;
		for (size_t i = 0; i < remainder->count; i++)
			(void)use_up(&remainder->curves[i], from_ns);
		ret->to_ns = from_ns;
		remainder->has_begun = true;
	}
	remainder->from_ns = ret->to_ns;
	return true;
}

void remainder_release(struct remainder *remainder)
{
	free(remainder->curves);
	*remainder = (struct remainder){ 0 };
}
