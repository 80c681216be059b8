// SPDX-License-Identifier: Apache-2.0
#include "energy/remainder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

/* ---- what it is made of ---- */

static bool is_part(const struct remainder_member *member)
{
	return member->counts && member->in_total && zone_kind_info[member->zone->kind].is_metered;
}

static bool is_whole_of(const struct remainder_member *whole, const struct remainder_member *part,
			enum psys_gpus psys_gpus)
{
	return is_part(part) && part->zone->kind != whole->zone->kind &&
	       part->zone->quality == whole->zone->quality &&
	       total_zone_is_in(part->zone, whole->zone, psys_gpus);
}

/* Returns true if part @z has ended, and no zone of its quality counts in its place. */
static bool is_of_other_quality_now(const struct remainder_member *members, size_t count, size_t z)
{
	const struct remainder_member *own = &members[z];

	if (!own->has_ended || !own->in_total)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (members[i].counts && members[i].zone->quality == own->zone->quality &&
		    members[i].zone->kind == own->zone->kind)
			return false;
	}
	return true;
}

/* Returns true if a zone is the whole of a remainder whenever it and a part of it count. */
static bool may_be_whole(const struct remainder_member *members, size_t count, size_t z,
			 enum psys_gpus psys_gpus)
{
	const struct zone *own = members[z].zone;

	if (!zone_kind_info[own->kind].is_whole || members[z].has_ended)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (members[i].zone->quality == own->quality &&
		    total_zone_is_in(members[i].zone, own, psys_gpus) &&
		    is_of_other_quality_now(members, count, i))
			return false;
	}
	return true;
}

static bool is_whole(const struct remainder_member *members, size_t count, size_t z,
		     enum psys_gpus psys_gpus)
{
	const struct remainder_member *own = &members[z];

	if (!own->counts || own->in_total || !may_be_whole(members, count, z, psys_gpus))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (is_whole_of(own, &members[i], psys_gpus))
			return true;
	}
	return false;
}

static uint32_t level_of_whole(const struct zone *zone)
{
	return zone->kind == ZONE_PSYS ? REMAINDER_PSYS : REMAINDER_PLATFORM;
}

/* The wholes of a remainder; of several psys one stands for all. */
struct wholes {
	enum zone_quality quality;
	enum psys_gpus psys_gpus;
	const struct remainder_member *psys;
	bool exists[REMAINDER_LEVELS];
};

static struct wholes find_wholes(const struct remainder_member *members, size_t count,
				 enum zone_quality quality, enum psys_gpus psys_gpus)
{
	struct wholes wholes = { .quality = quality, .psys_gpus = psys_gpus };

	for (size_t z = 0; z < count; z++) {
		uint32_t level = level_of_whole(members[z].zone);

		if (members[z].zone->quality != quality || !is_whole(members, count, z, psys_gpus))
			continue;
		wholes.exists[level] = true;
		if (level == REMAINDER_PSYS && !wholes.psys)
			wholes.psys = &members[z];
	}
	return wholes;
}

/* REMAINDER_LEVELS: no whole has it. */
static uint32_t level_of_part(const struct wholes *wholes, const struct remainder_member *part)
{
	if (wholes->psys && is_whole_of(wholes->psys, part, wholes->psys_gpus))
		return REMAINDER_PSYS;
	return wholes->exists[REMAINDER_PLATFORM] ? REMAINDER_PLATFORM : REMAINDER_LEVELS;
}

/*
 * Describes the curve of zone @z in @ret, except for its points, which are left as they are. False:
 * it has no curve.
 */
static bool describe(const struct wholes *wholes, const struct remainder_member *members,
		     size_t count, size_t z, struct remainder_curve *ret)
{
	if (members[z].zone->quality != wholes->quality)
		return false;
	ret->zone = (uint32_t)z;
	ret->counts_from_ns = members[z].counts_from_ns;
	ret->is_whole = is_whole(members, count, z, wholes->psys_gpus);
	if (ret->is_whole)
		ret->level = level_of_whole(members[z].zone);
	else
		ret->level = is_part(&members[z]) ? level_of_part(wholes, &members[z])
						  : REMAINDER_LEVELS;
	return ret->level < REMAINDER_LEVELS;
}

static bool is_same_curve(const struct remainder_curve *a, const struct remainder_curve *b)
{
	return a->zone == b->zone && a->level == b->level && a->is_whole == b->is_whole;
}

static struct remainder_curve *find_curve(const struct remainder *remainder,
					  const struct remainder_curve *like)
{
	for (size_t i = 0; i < remainder->count; i++) {
		if (is_same_curve(&remainder->curves[i], like))
			return &remainder->curves[i];
	}
	return NULL;
}

/* Are all wholes of @before still followed, and no others? */
static bool has_same_wholes(const struct remainder *remainder, const struct remainder *before)
{
	for (size_t i = 0; i < before->count; i++) {
		if (before->curves[i].is_whole && !find_curve(remainder, &before->curves[i]))
			return false;
	}
	for (size_t i = 0; i < remainder->count; i++) {
		if (remainder->curves[i].is_whole && !find_curve(before, &remainder->curves[i]))
			return false;
	}
	return true;
}

/* Curves that stay keep their points. The pending energy of a part that goes is owed. */
static void replace_curves(struct remainder *remainder, struct remainder_curve *curves,
			   size_t count)
{
	const struct remainder before = *remainder;

	remainder->curves = curves;
	remainder->count = count;
	remainder->has_begun &= has_same_wholes(remainder, &before);
	for (size_t i = 0; i < before.count; i++) {
		const struct remainder_curve *curve = &before.curves[i];
		struct remainder_curve *kept = find_curve(remainder, curve);

		if (kept)
			*kept = *curve;
		else if (curve->count && remainder->has_begun)
			remainder->level[curve->level].owed_uj +=
				curve->sum[curve->count - 1].energy_uj - curve->sum[0].energy_uj;
	}
	free(before.curves);
}

int remainder_follow(struct remainder *remainder, const struct remainder_member *members,
		     size_t count, enum psys_gpus psys_gpus)
{
	const struct wholes wholes = find_wholes(members, count, remainder->quality, psys_gpus);
	bool exists = wholes.exists[REMAINDER_PSYS] || wholes.exists[REMAINDER_PLATFORM];
	struct remainder_curve curve, *curves;
	bool is_same = true;
	size_t taken = 0;

	for (size_t z = 0; exists && z < count; z++) {
		if (!describe(&wholes, members, count, z, &curve))
			continue;
		is_same &= taken < remainder->count &&
			   is_same_curve(&remainder->curves[taken], &curve);
		if (is_same)
			remainder->curves[taken].counts_from_ns = curve.counts_from_ns;
		taken++;
	}
	if (is_same && taken == remainder->count)
		return 0;
	/* The last one is for zones that have none. */
	curves = calloc(taken + 1, sizeof(*curves));
	if (!curves)
		return -ENOMEM;
	taken = 0;
	for (size_t z = 0; exists && z < count; z++)
		taken += describe(&wholes, members, count, z, &curves[taken]);
	replace_curves(remainder, curves, taken);
	for (size_t i = 0; i < REMAINDER_LEVELS; i++)
		remainder->level[i].exists = wholes.exists[i];
	return 0;
}

bool remainder_has_ended(const struct remainder_member *members, size_t count,
			 enum zone_quality quality, enum psys_gpus psys_gpus)
{
	for (size_t z = 0; z < count; z++) {
		if (members[z].zone->quality == quality &&
		    may_be_whole(members, count, z, psys_gpus))
			return false;
	}
	return true;
}

bool remainder_exists(const struct remainder *remainder)
{
	return remainder->count > 0;
}

/*
 * Does a zone of @kind contain the energy of CPUs, which most of the energy of other parts follows?
 */
static bool has_cpus(enum zone_kind kind)
{
	return kind == ZONE_PACKAGE || kind == ZONE_CORE || kind == ZONE_PSYS;
}

struct zone remainder_zone(const struct remainder *remainder,
			   const struct remainder_member *members)
{
	bool is_estimate = remainder->quality == QUALITY_ESTIMATED, by_parts = false;
	struct zone zone = {
		.kind = ZONE_OTHER,
		.quality = remainder->quality,
		.knows_idle = is_estimate,
		.source = "remainder",
		.rank = is_estimate ? RANK_REST : RANK_SENSOR_POWER,
	};

	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];
		const struct zone *member = members[curve->zone].zone;

		by_parts |= !curve->is_whole && has_cpus(member->kind);
		if (!is_estimate || !curve->is_whole)
			continue;
		zone.source = member->source;
		zone.scope = member->scope;
	}
	zone.domain.kind = by_parts ? DOMAIN_PARTS : DOMAIN_NODE;
	(void)snprintf(zone.path, sizeof(zone.path), "the whole machine less %s",
		       is_estimate ? "the estimates of its parts"
		       : by_parts  ? "what its parts count"
				   : "the parts that are metered");
	return zone;
}

bool remainder_has_part(const struct remainder *remainder, size_t zone)
{
	bool has = false;

	for (size_t i = 0; i < remainder->count; i++)
		has |= remainder->curves[i].zone == zone && !remainder->curves[i].is_whole;
	return has;
}

double remainder_coverage(const struct remainder *remainder, size_t zone, bool *ret_is_of_minute)
{
	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];
		const struct remainder_level *level = &remainder->level[curve->level];

		if (curve->zone != zone || !curve->is_whole || !level->is_known)
			continue;
		if (ret_is_of_minute)
			*ret_is_of_minute = level->had_minute;
		return level->coverage;
	}
	return (double)NAN;
}

/* ---- curves ---- */

/* Drops every second point of a full curve, but not the first and the last. */
static void thin_out(struct remainder_curve *curve)
{
	size_t kept = 1;

	for (size_t i = 2; i + 1 < curve->count; i += 2, kept++) {
		curve->time_ns[kept] = curve->time_ns[i];
		curve->sum[kept] = curve->sum[i];
	}
	curve->time_ns[kept] = curve->time_ns[curve->count - 1];
	curve->sum[kept] = curve->sum[curve->count - 1];
	curve->count = kept + 1;
}

static void add_point(struct remainder_curve *curve, uint64_t time_ns, struct remainder_sum sum)
{
	if (curve->count == REMAINDER_POINTS)
		thin_out(curve);
	curve->time_ns[curve->count] = time_ns;
	curve->sum[curve->count++] = sum;
}

/*
 * Unknown energy of a part is not booked, so it stays in the whole: the part's curve is flat there.
 * False: the energy of a whole is not known; its curve begins at the span's end.
 */
static bool append(struct remainder_curve *curve, const struct energy_span *span)
{
	bool is_known = span->known && span->to_ns >= curve->counts_from_ns;
	bool goes_on = curve->count && curve->time_ns[curve->count - 1] == span->from_ns;
	struct remainder_sum sum = { 0, 0 };

	if (curve->is_whole && !(is_known && goes_on))
		curve->count = 0;
	if (curve->count)
		sum = curve->sum[curve->count - 1];
	else if (is_known)
		add_point(curve, span->from_ns, sum);
	if (is_known) {
		sum.energy_uj += span->energy_uj;
		sum.idle_uj += span->idle_uj;
	}
	add_point(curve, span->to_ns, sum);
	return !curve->is_whole || is_known;
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

static uint64_t last_time(const struct remainder_curve *curve)
{
	return curve->time_ns[curve->count - 1];
}

static uint64_t between(uint64_t from_uj, uint64_t to_uj, uint64_t part_ns, uint64_t all_ns)
{
	return from_uj + muldiv_u64(to_uj - from_uj, part_ns, all_ns);
}

/* Where the curve is at @at_ns; before its first point and behind its last it is flat. */
static struct remainder_sum sum_at(const struct remainder_curve *curve, uint64_t at_ns)
{
	const struct remainder_sum *from, *to;
	uint64_t part_ns, all_ns;
	size_t behind = 0;

	if (!curve->count)
		return (struct remainder_sum){ 0, 0 };
	while (behind < curve->count && curve->time_ns[behind] < at_ns)
		behind++;
	if (behind == curve->count)
		return curve->sum[behind - 1];
	if (behind == 0 || curve->time_ns[behind] == at_ns)
		return curve->sum[behind];
	from = &curve->sum[behind - 1];
	to = &curve->sum[behind];
	part_ns = at_ns - curve->time_ns[behind - 1];
	all_ns = curve->time_ns[behind] - curve->time_ns[behind - 1];
	return (struct remainder_sum){ between(from->energy_uj, to->energy_uj, part_ns, all_ns),
				       between(from->idle_uj, to->idle_uj, part_ns, all_ns) };
}

/* The curve begins at @from_ns, or where it ends; what was before is used up, and returned. */
static struct remainder_sum use_up(struct remainder_curve *curve, uint64_t from_ns)
{
	struct remainder_sum from = sum_at(curve, from_ns), used = { 0, 0 };
	size_t kept = 1, next = 0;

	if (!curve->count || curve->time_ns[0] >= from_ns)
		return used;
	if (from_ns > last_time(curve))
		from_ns = last_time(curve);
	used.energy_uj = from.energy_uj - curve->sum[0].energy_uj;
	used.idle_uj = from.idle_uj - curve->sum[0].idle_uj;
	while (next < curve->count && curve->time_ns[next] <= from_ns)
		next++;
	for (; next < curve->count; next++, kept++) {
		curve->time_ns[kept] = curve->time_ns[next];
		curve->sum[kept] = curve->sum[next];
	}
	curve->time_ns[0] = from_ns;
	curve->sum[0] = from;
	curve->count = kept;
	return used;
}

/* ---- spans ---- */

/* The time that all wholes have in common; false if there is none. */
static bool common_time(const struct remainder *remainder, uint64_t *ret_from_ns,
			uint64_t *ret_to_ns)
{
	*ret_from_ns = 0;
	*ret_to_ns = UINT64_MAX;
	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];

		if (!curve->is_whole)
			continue;
		if (!curve->count)
			return false;
		if (curve->time_ns[0] > *ret_from_ns)
			*ret_from_ns = curve->time_ns[0];
		if (last_time(curve) < *ret_to_ns)
			*ret_to_ns = last_time(curve);
	}
	return remainder->count && *ret_from_ns <= *ret_to_ns;
}

/* How far all parts reach that wholes, which reach @to_ns, wait for. */
static uint64_t reach_of_parts(const struct remainder *remainder, uint64_t to_ns)
{
	uint64_t reach_ns = to_ns;

	for (size_t i = 0; i < remainder->count; i++) {
		const struct remainder_curve *curve = &remainder->curves[i];

		if (!curve->is_whole && curve->count && last_time(curve) < reach_ns &&
		    to_ns - last_time(curve) <= REMAINDER_WINDOW_NS)
			reach_ns = last_time(curve);
	}
	return reach_ns;
}

/* Judges a minute, or the first one while it goes on. */
static void judge(struct remainder_level *level, uint64_t from_ns, uint64_t to_ns)
{
	bool is_over;

	if (!level->begun_ns)
		level->begun_ns = from_ns;
	is_over = to_ns - level->begun_ns >= REMAINDER_WINDOW_NS;
	if (!is_over && (level->had_minute || to_ns - level->begun_ns < REMAINDER_FIRST_NS))
		return;
	level->is_known = level->parts_uj > 0;
	level->coverage = (double)level->whole_uj / (double)level->parts_uj;
	if (!is_over)
		return;
	if (level->parts_uj > level->whole_uj) {
		level->written_off_uj += level->debt_uj;
		level->debt_uj = 0;
	}
	level->had_minute = true;
	level->begun_ns = to_ns;
	level->whole_uj = level->parts_uj = 0;
}

/* Returns the energy of the whole without its parts and less the debt from earlier spans. */
static uint64_t settle_level(struct remainder_level *level, uint64_t whole_uj, uint64_t parts_uj)
{
	uint64_t taken_uj = parts_uj + level->debt_uj;

	level->whole_uj += whole_uj;
	level->parts_uj += parts_uj;
	level->debt_uj = taken_uj > whole_uj ? taken_uj - whole_uj : 0;
	return whole_uj > taken_uj ? whole_uj - taken_uj : 0;
}

static uint64_t pay(uint64_t *owed_uj, uint64_t rest_uj)
{
	uint64_t paid_uj = rest_uj < *owed_uj ? rest_uj : *owed_uj;

	*owed_uj -= paid_uj;
	return rest_uj - paid_uj;
}

/* The energy of all curves of each level up to @to_ns, which is used up. */
struct level_sums {
	struct remainder_sum whole, parts;
};

static void take_up_to(struct remainder *remainder, uint64_t to_ns,
		       struct level_sums sums[static REMAINDER_LEVELS])
{
	for (size_t i = 0; i < remainder->count; i++) {
		struct remainder_curve *curve = &remainder->curves[i];
		struct level_sums *own = &sums[curve->level];
		struct remainder_sum *sum = curve->is_whole ? &own->whole : &own->parts;
		struct remainder_sum used;

		(void)use_up(curve, remainder->begun_ns);
		remainder->level[curve->level].owed_uj +=
			use_up(curve, remainder->from_ns).energy_uj;
		used = use_up(curve, to_ns);
		sum->energy_uj += used.energy_uj;
		sum->idle_uj += used.idle_uj;
	}
}

/* The energy of all curves up to @to_ns. */
static struct remainder_sum settle(struct remainder *remainder, uint64_t to_ns)
{
	struct level_sums sums[REMAINDER_LEVELS] = { 0 };
	struct remainder_sum rest = { 0, 0 };
	uint64_t inside_uj = 0, whole_idle_uj = 0, parts_idle_uj = 0;

	take_up_to(remainder, to_ns, sums);
	for (size_t i = 0; i < REMAINDER_LEVELS; i++) {
		struct remainder_level *level = &remainder->level[i];
		uint64_t rest_uj;

		inside_uj += sums[i].parts.energy_uj;
		parts_idle_uj += sums[i].parts.idle_uj;
		if (!level->exists)
			continue;
		rest_uj = settle_level(level, sums[i].whole.energy_uj, inside_uj);
		judge(level, remainder->from_ns, to_ns);
		inside_uj += rest_uj;
		rest.energy_uj += pay(&level->owed_uj, rest_uj);
		whole_idle_uj = sums[i].whole.idle_uj;
	}
	if (whole_idle_uj > parts_idle_uj)
		rest.idle_uj = whole_idle_uj - parts_idle_uj;
	if (rest.idle_uj > rest.energy_uj)
		rest.idle_uj = rest.energy_uj;
	return rest;
}

static void begin(struct remainder *remainder, uint64_t from_ns)
{
	for (size_t i = 0; i < remainder->count; i++)
		(void)use_up(&remainder->curves[i], from_ns);
	remainder->begun_ns = from_ns;
	for (size_t i = 0; i < REMAINDER_LEVELS; i++) {
		struct remainder_level *level = &remainder->level[i];

		level->begun_ns = from_ns;
		level->whole_uj = level->parts_uj = 0;
	}
	remainder->has_begun = true;
}

bool remainder_advance(struct remainder *remainder, const struct energy_span *spans,
		       size_t span_count, struct energy_span *ret)
{
	uint64_t from_ns, to_ns;

	take(remainder, spans, span_count);
	if (!common_time(remainder, &from_ns, &to_ns))
		return false;
	*ret = (struct energy_span){ .from_ns = remainder->from_ns };
	if (remainder->has_begun)
		to_ns = reach_of_parts(remainder, to_ns);
	if (remainder->has_begun && to_ns <= remainder->from_ns)
		return false;
	if (remainder->has_begun) {
		const struct remainder_sum rest = settle(remainder, to_ns);

		ret->known = true;
		ret->to_ns = to_ns;
		ret->energy_uj = rest.energy_uj;
		ret->idle_uj = rest.idle_uj;
	} else {
		/* Energy after from_ns is in the next span. */
		if (from_ns <= remainder->from_ns)
			from_ns = to_ns;
		if (from_ns <= remainder->from_ns)
			return false;
		ret->to_ns = from_ns;
		begin(remainder, from_ns);
	}
	remainder->from_ns = ret->to_ns;
	return true;
}

void remainder_release(struct remainder *remainder)
{
	free(remainder->curves);
	*remainder = (struct remainder){ 0 };
}
