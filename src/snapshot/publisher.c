// SPDX-License-Identifier: Apache-2.0
/*
 * One interval of the publisher, in the order that keeps its promises: what went quiet leaves first
 * and makes room, then newcomers get their series, then the interval is booked (so that a newcomer
 * has the interval of its admission, and a merged one has not), then the picture is taken. Only
 * containers for which there is no room any more go after that, and are not in the next one.
 *
 * Memory is reserved before anything changes. Where it runs out the old snapshot stays, and the
 * next interval looks at all rows instead of the touched ones.
 */
#include "snapshot/publisher.h"
#include "snapshot/birth_clock.h"

#include <errno.h>
#include <stdlib.h>

#include "snapshot/process_series.h"
#include "snapshot/snapshot_build.h"

struct publisher {
	struct publication publication;
	struct process_series processes;
	struct ranking smallest; /* scratch: containers */
	bool published;          /* at least once */
	bool missed;             /* an interval's touched rows were not looked at: look at all */
	uint32_t ended_zones;    /* of the ledger's, when series were looked at last */
	bool is_hidden;          /* the last snapshot could not be made */
	uint64_t hidden_ns, visible_ns; /* struct moment */
	struct birth_clock births;
};

/* A new container may be the first of its pod, VM and namespace. */
static void limit_containers(const struct publication *publication)
{
	const uint32_t rows_each = ROWS_OF_CONTAINER + GROUP_LEVELS + ROWS_OF_NAMESPACE;
	uint32_t limit = publication->options.max_rows, rows = publication_owner_rows(publication);
	uint32_t fit = rows < limit ? (limit - rows) / rows_each : 0;

	ledger_limit_containers(publication->ledger,
				ledger_limited_rows(publication->ledger, LEVEL_CONTAINER) + fit);
}

int publisher_new(const struct publisher_options *options, struct ledger *ledger,
		  struct snapshot_holder *holder, struct publisher **ret)
{
	struct publisher *publisher = calloc(1, sizeof(*publisher));
	int r;

	if (!publisher)
		return -ENOMEM;
	process_series_init(&publisher->processes, &publisher->publication);
	r = publication_init(&publisher->publication, options, ledger, holder);
	if (r < 0) {
		publisher_free(publisher);
		return r;
	}
	limit_containers(&publisher->publication);
	*ret = publisher;
	return 0;
}

void publisher_free(struct publisher *publisher)
{
	if (!publisher)
		return;
	process_series_release(&publisher->processes);
	publication_release(&publisher->publication);
	ranking_release(&publisher->smallest);
	free(publisher);
}

void publisher_set_health(struct publisher *publisher, const struct health_source *sources,
			  size_t count)
{
	publisher->publication.health = sources;
	publisher->publication.health_count = count;
}

void publisher_set_units(struct publisher *publisher, const struct unit_accounts *units)
{
	publisher->publication.units = units;
}

void publisher_set_users(struct publisher *publisher, const struct process_users *users)
{
	publisher->publication.power_scratch.users = users;
}

void publisher_set_options(struct publisher *publisher, const struct publisher_options *options)
{
	publisher->publication.options = *options;
	limit_containers(&publisher->publication);
}

struct publisher_view publisher_look(const struct publisher *publisher, enum level level,
				     uint32_t row, uint64_t serial)
{
	const struct publication *publication = &publisher->publication;
	const struct series *series = series_find(&publication->series[level], row);
	const struct level_row *found =
		level_table_at(ledger_level(publication->ledger, level), row);
	struct publisher_view view = { .is_there = found->used && found->serial == serial };

	if (!view.is_there)
		return view;
	if (series)
		view.labels = series->labels;
	else if (level == LEVEL_PROCESS)
		view.counts_uj = process_series_earned_uj(&publisher->processes, row);
	return view;
}

/* Use of a zone that has ended does not earn a series: a process without one starts over. */
static void follow_ended_zones(struct publisher *publisher)
{
	uint32_t ended = ledger_layout(publisher->publication.ledger)->ended;

	if (ended != publisher->ended_zones)
		process_series_start_over(&publisher->processes);
	publisher->ended_zones = ended;
}

/* A container that waits for its names has no series; any other row above the processes has. */
static int admit(struct publication *publication, enum level level, const struct moment *at)
{
	const struct ledger *ledger = publication->ledger;
	uint32_t slots = ledger_slots(ledger, level);

	for (uint32_t i = 0; i < slots; i++) {
		const struct level_row *row = level_table_at(ledger_level(ledger, level), i);
		struct series *series = series_find(&publication->series[level], i);

		if (!row->used ||
		    (level == LEVEL_CONTAINER && ledger_container_at(ledger, i)->waiting))
			continue;
		if (!series && !publication_open(publication, level, i, at))
			return -ENOMEM;
		if (series && level != LEVEL_CONTAINER)
			publication_follow_facts(publication, series,
						 ledger_group_at(ledger, level, i));
	}
	return 0;
}

/* The last use of a row above the level of processes, and whether a limit may take the row. */
struct last_use {
	uint64_t last_ns;
	bool yields;
};

/* An "other" does not yield, nor does a row with older names. */
static struct last_use last_use_of(const struct ledger *ledger, enum level level, uint32_t row)
{
	const struct ledger_container *container;

	if (level != LEVEL_CONTAINER)
		return (struct last_use){ ledger_group_at(ledger, level, row)->last_active_ns,
					  true };
	container = ledger_container_at(ledger, row);
	return (struct last_use){ container->last_active_ns,
				  !container->is_other && !container->replaced };
}

static bool is_in_use(const struct ledger *ledger, enum level level, uint32_t row)
{
	const struct level_row *at = level_table_at(ledger_level(ledger, level), row);

	return at->members > 0 || at->touched || row == 0 || /* what overflows stays */
	       (level == LEVEL_CONTAINER && ledger_container_at(ledger, row)->is_there);
}

static void retire(struct publication *publication, enum level level, uint32_t index,
		   const struct moment *at)
{
	uint32_t row = publication->series[level].series[index].row;

	publication_close(publication, level, index, at);
	ledger_release(publication->ledger, level, row);
}

/* Retires what is empty and was shown for long enough; where rows are scarce, early. */
static void expire(struct publication *publication, enum level level, const struct moment *at)
{
	const struct ledger *ledger = publication->ledger;
	struct series_table *table = &publication->series[level];
	bool crowded = publication_is_crowded(publication, level);

	/* Closing moves the last one, which was looked at already. */
	for (uint32_t i = table->count; i-- > 0;) {
		const struct series *series = &table->series[i];
		struct last_use use;
		enum retention retention;
		bool early;

		if (is_in_use(ledger, level, series->row))
			continue;
		use = last_use_of(ledger, level, series->row);
		retention = retention_of(&series->age, use.last_ns, &publication->options, at);
		early = retention == RETENTION_EARLY && crowded && use.yields;
		table->merged += early;
		if (early || retention == RETENTION_OVER)
			retire(publication, level, i, at);
	}
}

/* How many containers have to go for the owners' rows to fit, and whatever they do meanwhile. */
static uint32_t excess_containers(const struct publication *publication)
{
	uint32_t limit = publication->options.max_rows, rows = publication_owner_rows(publication);

	return rows > limit ? (rows - limit + ROWS_OF_CONTAINER - 1) / ROWS_OF_CONTAINER : 0;
}

/*
 * Was shown. That it did not run in this interval is asked of those that make room for others: one
 * that runs would be back at once.
 */
static bool may_be_merged(const struct publication *publication, const struct series *series,
			  bool runs)
{
	const struct ledger_container *row = ledger_container_at(publication->ledger, series->row);

	return series->row != 0 && series->age.settled && !row->is_other && !row->replaced &&
	       (runs || !publication_has_run(publication, LEVEL_CONTAINER, series->row));
}

/*
 * Makes room for owners that found none: the smallest containers that did not run in this interval
 * go, with their process rows. So do the smallest of all while there are more than a snapshot may
 * show.
 */
static void merge_containers(struct publisher *publisher, const struct moment *at)
{
	struct publication *publication = &publisher->publication;
	struct series_table *table = &publication->series[LEVEL_CONTAINER];
	struct ranking *smallest = &publisher->smallest;
	uint32_t refused = ledger_refused(publication->ledger, LEVEL_CONTAINER);
	uint32_t excess = excess_containers(publication);

	if (refused + excess == 0 || ranking_begin(smallest, excess ? excess : refused) < 0)
		return;
	for (uint32_t i = 0; i < table->count; i++) {
		const struct series *series = &table->series[i];

		if (may_be_merged(publication, series, excess > 0))
			ranking_offer(
				smallest,
				publication_usage_uj(publication,
						     ledger_values(publication->ledger,
								   LEVEL_CONTAINER, series->row)),
				series->row);
	}
	if (smallest->count == 0)
		return;
	for (uint32_t i = 0; i < smallest->count; i++)
		series_find(table, smallest->ranked[i].row)->merging = true;
	process_series_release_merging(&publisher->processes, at);
	for (uint32_t i = 0; i < smallest->count; i++)
		retire(publication, LEVEL_CONTAINER, series_index(table, smallest->ranked[i].row),
		       at);
	table->merged += smallest->count;
}

/*
 * The last value that a row got from its earlier owner, before another one inherited it, was shown
 * for long enough.
 */
static bool is_inherited(const struct publication *publication, const struct series *series,
			 const struct moment *at)
{
	const struct ledger_container *row = ledger_container_at(publication->ledger, series->row);

	return row->inherited_ns && !row->replaced &&
	       retention_of(&series->age, row->inherited_ns, &publication->options, at) >=
		       RETENTION_EARLY;
}

/* Retires a container, and its VM where that has no other. */
static void retire_with_vm(struct publication *publication, uint32_t container,
			   const struct moment *at)
{
	struct series_table *vms = &publication->series[LEVEL_VM];
	uint32_t vm =
		ledger_group_of(ledger_container_at(publication->ledger, container), LEVEL_VM);

	retire(publication, LEVEL_CONTAINER,
	       series_index(&publication->series[LEVEL_CONTAINER], container), at);
	if (vm == LEDGER_NONE || !series_find(vms, vm) ||
	    ledger_group_at(publication->ledger, LEVEL_VM, vm)->row.members > 0)
		return;
	retire(publication, LEVEL_VM, series_index(vms, vm), at);
}

/* Owners whose id belonged to another owner before start again in the next interval. */
static void end_inherited(struct publisher *publisher, const struct moment *at)
{
	struct publication *publication = &publisher->publication;
	struct series_table *table = &publication->series[LEVEL_CONTAINER];
	bool any = false;

	for (uint32_t i = 0; i < table->count; i++) {
		struct series *series = &table->series[i];

		series->merging = is_inherited(publication, series, at);
		any |= series->merging;
	}
	if (!any)
		return;
	process_series_release_merging(&publisher->processes, at);
	for (uint32_t i = table->count; i-- > 0;) {
		if (table->series[i].merging)
			retire_with_vm(publication, table->series[i].row, at);
	}
}

static int reserve(struct publisher *publisher)
{
	int r = publication_reserve(&publisher->publication);

	return r < 0 ? r : process_series_reserve(&publisher->processes);
}

/* There is no snapshot of this interval. Returns @r. */
static int hide(struct publisher *publisher, uint64_t now_ns, int r)
{
	if (!publisher->is_hidden)
		publisher->hidden_ns = now_ns;
	publisher->is_hidden = true;
	return r;
}

int publisher_publish(struct publisher *publisher, const struct publication_time *time,
		      const struct snapshot_zone *zones, const struct snapshot_node *node)
{
	struct publication *publication = &publisher->publication;
	const struct moment at = {
		.now_ns = time->monotonic_ns,
		.realtime_ms = time->realtime_ms,
		.boottime_ms = time->boottime_ms,
		.birth_offset_ms = birth_clock_follow(&publisher->births, time->boottime_ms,
						      time->realtime_ms),
		.first = !publisher->published,
		.hidden_ns = publisher->hidden_ns,
		.visible_ns = publisher->is_hidden ? time->monotonic_ns : publisher->visible_ns,
	};
	int r;

	ledger_close(publication->ledger);
	r = reserve(publisher);
	if (r < 0) {
		publisher->missed = true;
		return hide(publisher, time->monotonic_ns, r);
	}
	/* Before rows are released. Without memory the last one stays. */
	(void)power_picture_take(&publication->power, publication->ledger, zones,
				 snapshot_holder_wants_rows(publication->holder, at.now_ns)
					 ? &power_whole
					 : &power_glance,
				 node->elapsed_ns, time->realtime_ms, &publication->power_scratch);
	follow_ended_zones(publisher);
	label_pool_collect(publication->labels, snapshot_holder_oldest(publication->holder));
	for (enum level level = LEVEL_CONTAINER; r == 0 && level < LEVEL_COUNT; level++)
		r = admit(publication, level, &at);
	if (!publisher->missed) /* which of them have ended is not known yet */
		process_series_expire(&publisher->processes, &at);
	process_series_admit(&publisher->processes, &at);
	process_series_apply(&publisher->processes, publisher->missed, &at);
	publisher->missed = false;
	process_series_forget(&publisher->processes, &at);
	for (enum level level = LEVEL_CONTAINER; level < LEVEL_COUNT; level++)
		expire(publication, level, &at);
	if (r == 0)
		r = snapshot_build(publication, &at, zones, node);
	if (r < 0)
		return hide(publisher, time->monotonic_ns, r);
	publisher->published = true;
	publisher->is_hidden = false;
	publisher->visible_ns = at.visible_ns;
	merge_containers(publisher, &at); /* what they were given in this interval is shown */
	end_inherited(publisher, &at);
	limit_containers(publication);
	return 0;
}

const struct power_picture *publisher_power(const struct publisher *publisher)
{
	return &publisher->publication.power;
}
