// SPDX-License-Identifier: Apache-2.0
/*
 * A row has a column an account and mode, so power is added up over the accounts of the total, each
 * with the time that its energy took. What all rows got is the sum of the owners, as every charge
 * is one to an owner; the rest of an interval's energy is idle or unattributed. Each sum is rounded
 * down once an account, which leaves at most a few µW to what is unattributed.
 */
#include "snapshot/power_picture.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"
#include "energy/label_text.h"
#include "energy/total.h"
#include "snapshot/account_picture.h"
#include "snapshot/owner_text.h"
#include "snapshot/power_counting.h"
#include "snapshot/power_groups.h"

const struct power_row_limits power_glance = {
	{ [LEVEL_PROCESS] = POWER_TOP_PROCESSES, [LEVEL_CONTAINER] = POWER_TOP_OWNERS }
};

const struct power_row_limits power_whole = { { [0 ... LEVEL_COUNT - 1] = POWER_ROWS_MAX } };

void power_picture_copy(struct power_picture *ret, const struct power_picture *picture,
			struct power_row *rows)
{
	*ret = *picture;
	ret->rows = rows;
	if (picture->row_count)
		memcpy(rows, picture->rows, picture->row_count * sizeof(*rows));
}

void power_scratch_release(struct power_scratch *scratch)
{
	free(scratch->accounts);
	free(scratch->rows);
	free(scratch->places);
	free(scratch->shares);
	ranking_release(&scratch->ranking);
	*scratch = (struct power_scratch){ 0 };
}

/* "shop/checkout-7d9f" of a pod, else the name of the group, or its id. */
static void write_group(const struct owner_names *names, enum level level,
			char ret[OWNER_TEXT_SIZE])
{
	const struct level_info *info = &level_info[level];
	const char *name =
		names->text[info->called][0] ? names->text[info->called] : names->text[info->id];
	const char *space = level == LEVEL_POD ? names->text[LABEL_NAMESPACE] : "";
	char long_text[2 * OWNER_NAME_MAX + sizeof("/")];

	(void)snprintf(long_text, sizeof(long_text), "%s%s%s", space, *space ? "/" : "", name);
	label_text(ret, OWNER_TEXT_SIZE, long_text);
}

/* Where the picture has a row of the ledger, or POWER_ROW_NONE: of levels above processes. */
static uint32_t *place_of(struct counting *counting, enum level level, uint32_t row)
{
	uint32_t *places = counting->places;

	for (enum level before = LEVEL_CONTAINER; before < level; before++)
		places += ledger_slots(counting->ledger, before);
	return &places[row];
}

static void write_process(struct counting *counting, uint32_t row, struct power_row *ret)
{
	const struct ledger_process *process = ledger_process_at(counting->ledger, row);

	ret->pid = process->pid;
	ret->start_ns = process->start_ns;
	memcpy(ret->command, process->comm, sizeof(ret->command));
	ret->belongs_to[LEVEL_CONTAINER] = *place_of(counting, LEVEL_CONTAINER, process->container);
	owner_text(ledger_container_at(counting->ledger, process->container)->names, false,
		   ret->owner);
}

static void write_container(struct counting *counting, uint32_t row, struct power_row *ret)
{
	const struct ledger_container *container = ledger_container_at(counting->ledger, row);

	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++) {
		uint32_t group = ledger_group_of(container, level);

		if (group != LEDGER_NONE)
			ret->belongs_to[level] = *place_of(counting, level, group);
	}
	owner_text(container->names, true, ret->owner);
}

static void write_row(struct counting *counting, enum level level, uint32_t row,
		      struct power_row *ret)
{
	const struct ledger *ledger = counting->ledger;
	const uint64_t *deltas = ledger_deltas(ledger, level, row);

	ret->pid = 0;
	ret->start_ns = 0;
	ret->command[0] = '\0';
	for (enum level above = 0; above < LEVEL_COUNT; above++)
		ret->belongs_to[above] = POWER_ROW_NONE;
	if (level == LEVEL_PROCESS)
		write_process(counting, row, ret);
	else if (level == LEVEL_CONTAINER)
		write_container(counting, row, ret);
	else
		write_group(ledger_group_at(ledger, level, row)->names, level, ret->owner);
	ret->power_uw = counting_row_power_uw(counting, deltas);
	ret->energy_uj = counting_row_energy_uj(counting, ledger_values(ledger, level, row));
	ret->cpu_ns = deltas[COLUMN_CPU];
}

/*
 * Ranks the rows of a level by use; among rows with the same use, the first in the ledger comes
 * first. Returns the number of rows.
 */
static uint32_t rank_rows(const struct counting *counting, enum level level,
			  struct ranking *ranking)
{
	const struct ledger *ledger = counting->ledger;
	uint32_t used = 0;
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, level, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t *deltas = ledger_deltas(ledger, level, touched[i]);
		uint64_t power = deltas ? counting_row_power_uw(counting, deltas) : 0;

		if (!deltas || (!power && !deltas[COLUMN_CPU]))
			continue;
		used++;
		ranking_offer(ranking,
			      UINT64_MAX - (counting->is_known ? power : deltas[COLUMN_CPU]),
			      touched[i]);
	}
	ranking_sort_smallest_first(ranking);
	return used;
}

/* @charged_uw: to all rows of the level. */
static void take_rows(struct counting *counting, enum level level, uint64_t charged_uw,
		      uint32_t limit, struct ranking *ranking, struct power_picture *picture)
{
	struct power_list *list = &picture->view[level];
	uint32_t used;

	(void)ranking_begin(ranking, limit); /* there is memory for the most: reserve() */
	used = rank_rows(counting, level, ranking);
	*list = (struct power_list){
		.first = picture->row_count,
		.count = ranking->count,
		.left_out = used - ranking->count,
		.other_uw = charged_uw,
		.other_uj = counting->rows_uj,
		.other_cpu_ns = counting->cpu_ns,
	};
	for (uint32_t i = 0; i < ranking->count; i++) {
		struct power_row *row = &picture->rows[list->first + i];

		write_row(counting, level, ranking->ranked[i].row, row);
		if (level != LEVEL_PROCESS)
			*place_of(counting, level, ranking->ranked[i].row) = list->first + i;
		list->other_uw -= row->power_uw;
		list->other_uj -= row->energy_uj;
		list->other_cpu_ns -= row->cpu_ns;
	}
	picture->row_count += list->count;
}

/* The power of each kind of zone: in the total, and inside a zone of it. */
struct kinds {
	uint64_t in_total_uw[ZONE_KIND_COUNT];
	uint64_t inside_uw[ZONE_KIND_COUNT];
};

static struct kinds sum_kinds(const struct counting *counting, enum zone_quality quality)
{
	const struct layout *layout = counting_layout(counting);
	struct kinds kinds = { { 0 } };

	for (uint32_t i = 0; i < layout->account_count; i++) {
		const struct snapshot_zone *first =
			&counting->zones[layout->accounts[i].first_zone];
		uint64_t *sums = first->total == TOTAL_NONE ? kinds.inside_uw : kinds.in_total_uw;
		uint64_t energy_uj = 0;

		if (first->zone.quality != quality)
			continue;
		for (uint32_t z = layout->accounts[i].first_zone; z != ZONE_NONE;
		     z = layout->zones[z].next)
			energy_uj += ledger_node_delta(counting->ledger, z, MODE_DYNAMIC) +
				     ledger_node_delta(counting->ledger, z, MODE_IDLE);
		sums[first->zone.kind] +=
			counting_power_uw(energy_uj, account_span_ns(layout, i, counting->zones));
	}
	return kinds;
}

/*
 * Returns true if @part is shown inside @whole: it is in it, and in no zone between the two. The
 * remainder of a platform is the rest that is shown in any case.
 */
static bool is_shown_inside(const struct kinds *kinds, enum zone_kind part, enum zone_kind whole)
{
	if (part == whole || !kinds->inside_uw[part] || !zone_kind_info[part].is_metered ||
	    !total_kind_is_in(part, whole))
		return false;
	for (enum zone_kind mid = 0; mid < ZONE_KIND_COUNT; mid++) {
		if (mid != part && mid != whole && kinds->inside_uw[mid] &&
		    total_kind_is_in(part, mid) && total_kind_is_in(mid, whole))
			return false;
	}
	return true;
}

static uint64_t sum_inside(const struct kinds *kinds, enum zone_kind whole)
{
	uint64_t sum = 0;

	for (enum zone_kind part = 0; part < ZONE_KIND_COUNT; part++)
		sum += is_shown_inside(kinds, part, whole) ? kinds->inside_uw[part] : 0;
	return sum;
}

static void add_part(struct power_picture *picture, enum zone_kind kind, enum zone_quality quality,
		     bool is_rest, uint64_t power)
{
	if (power || !is_rest)
		picture->parts[picture->part_count++] =
			(struct power_part){ kind, quality, is_rest, power };
}

static void add_kind(struct power_picture *picture, const struct kinds *kinds, enum zone_kind kind,
		     enum zone_quality quality, uint64_t power);

static void add_inside(struct power_picture *picture, const struct kinds *kinds,
		       enum zone_kind whole, enum zone_quality quality)
{
	for (enum zone_kind part = 0; part < ZONE_KIND_COUNT; part++) {
		if (is_shown_inside(kinds, part, whole))
			add_kind(picture, kinds, part, quality, kinds->inside_uw[part]);
	}
}

/* It goes no deeper than the whole machine's zones: two. */
static void add_kind(struct power_picture *picture, const struct kinds *kinds, enum zone_kind kind,
		     enum zone_quality quality, uint64_t power)
{
	uint64_t inside = zone_kind_info[kind].is_whole ? sum_inside(kinds, kind) : 0;

	if (!inside || inside > power) {
		add_part(picture, kind, quality, false, power);
		return;
	}
	add_inside(picture, kinds, kind, quality);
	add_part(picture, kind, quality, true, power - inside);
}

static void take_parts(const struct counting *counting, struct power_picture *picture)
{
	for (enum zone_quality quality = QUALITY_MEASURED; quality <= QUALITY_ESTIMATED;
	     quality++) {
		const struct kinds kinds = sum_kinds(counting, quality);

		for (enum zone_kind kind = 0; kind < ZONE_KIND_COUNT; kind++) {
			if (kinds.in_total_uw[kind])
				add_kind(picture, &kinds, kind, quality, kinds.in_total_uw[kind]);
		}
	}
}

/*
 * The error of the estimated whole, if there is one; else the sum of the errors of the estimates in
 * the total. 0: not known.
 */
static double error_of_estimates(const struct counting *counting)
{
	double wholes_w = 0, total_w = 0;

	for (uint32_t z = 0; z < ledger_zones(counting->ledger); z++) {
		const struct snapshot_zone *zone = &counting->zones[z];

		if (zone->zone.quality != QUALITY_ESTIMATED || !snapshot_zone_draws(zone) ||
		    !(zone->model_error_w > 0))
			continue;
		if (zone_kind_info[zone->zone.kind].is_whole)
			wholes_w += zone->model_error_w;
		else if (zone->total != TOTAL_NONE)
			total_w += zone->model_error_w;
	}
	return wholes_w > 0 ? wholes_w : total_w;
}

static void look_at_kinds_of_power(const struct counting *counting, struct power_picture *picture)
{
	picture->is_estimated = picture->has_idle = picture->idle_is_provisional = false;
	for (uint32_t z = 0; z < ledger_zones(counting->ledger); z++) {
		const struct snapshot_zone *zone = &counting->zones[z];

		if (zone->total == TOTAL_NONE || !snapshot_zone_draws(zone))
			continue;
		picture->has_idle |= zone->has_mode[MODE_IDLE];
		picture->idle_is_provisional |=
			zone->has_mode[MODE_IDLE] && zone->idle_state == IDLE_PROVISIONAL;
		picture->is_estimated |= zone->zone.quality == QUALITY_ESTIMATED;
	}
	picture->error_w = picture->is_estimated ? error_of_estimates(counting) : 0;
}

/* The total and what no row is charged. Returns what rows are. */
static uint64_t take_total(const struct counting *counting, struct power_picture *picture)
{
	uint64_t charged = 0;

	picture->total_uw = picture->idle_uw = 0;
	for (uint32_t a = 0; counting->is_known && a < counting->count; a++) {
		const struct counted_account *counted = &counting->accounts[a];
		const uint64_t *node = counted->node, *rows = counted->rows;

		picture->total_uw +=
			counting_power_uw(node[MODE_DYNAMIC] + node[MODE_IDLE], counted->span_ns);
		charged +=
			counting_power_uw(rows[MODE_DYNAMIC] + rows[MODE_IDLE], counted->span_ns);
		picture->idle_uw +=
			counting_power_uw(node[MODE_IDLE] - rows[MODE_IDLE], counted->span_ns);
	}
	picture->unattributed_uw = picture->total_uw - charged - picture->idle_uw;
	return charged;
}

static uint32_t wanted_rows(const struct ledger *ledger, enum level level,
			    const struct power_row_limits *limits)
{
	size_t touched;

	(void)ledger_touched(ledger, level, &touched);
	return touched < limits->rows[level] ? (uint32_t)touched : limits->rows[level];
}

/* Memory for everything that is taken. 0 or -ENOMEM; the rows of the last picture stay. */
static int reserve(struct power_scratch *scratch, const struct ledger *ledger,
		   const struct power_row_limits *limits)
{
	uint32_t rows = 0, most = 0, places = 0;

	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		uint32_t wanted = wanted_rows(ledger, level, limits);

		rows += wanted;
		most = wanted > most ? wanted : most;
		places += level == LEVEL_PROCESS ? 0 : ledger_slots(ledger, level);
	}
	if (ARRAY_RESERVE(scratch->accounts, scratch->room, ledger_layout(ledger)->account_count) <
		    0 ||
	    ARRAY_RESERVE(scratch->rows, scratch->row_room, rows) < 0 ||
	    ARRAY_RESERVE(scratch->places, scratch->place_room, places) < 0 ||
	    ranking_begin(&scratch->ranking, most) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < places; i++)
		scratch->places[i] = POWER_ROW_NONE;
	return 0;
}

int power_picture_take(struct power_picture *picture, const struct ledger *ledger,
		       const struct snapshot_zone *zones, const struct power_row_limits *limits,
		       uint64_t elapsed_ns, int64_t realtime_ms, struct power_scratch *scratch)
{
	struct counting counting = { .ledger = ledger, .zones = zones };
	int r = reserve(scratch, ledger, limits);
	uint64_t charged;

	picture->rows = scratch->rows;
	if (r < 0)
		return r;
	counting.accounts = scratch->accounts;
	counting.places = scratch->places;
	counting_look_at_accounts(&counting);
	if (counting.is_late && picture->is_known)
		return 0;
	counting_look_at_owners(&counting);
	picture->realtime_ms = realtime_ms;
	picture->elapsed_ns = elapsed_ns;
	picture->is_known = counting.is_known;
	charged = take_total(&counting, picture);
	look_at_kinds_of_power(&counting, picture);
	picture->part_count = 0;
	if (counting.is_known)
		take_parts(&counting, picture);
	picture->is_whole = limits == &power_whole;
	picture->row_count = 0;
	/* Groups first, then what belongs to them. */
	for (enum level level = LEVEL_COUNT; level-- > 0;)
		take_rows(&counting, level, charged, wanted_rows(ledger, level, limits),
			  &scratch->ranking, picture);
	power_groups_take(&counting, charged, scratch, picture);
	return 0;
}
