// SPDX-License-Identifier: Apache-2.0
/*
 * The zones of this node as one list, over all sources. Each pass asks each source's reader, or its
 * poller; a zone that fails has no span and says why, and its next span goes on from where the last
 * one ended. What a source has found is a place, and it becomes a zone of the table with its first
 * good value: a meter without one value has measured nothing, which is not 0 J. A source is
 * searched again when one of its zones is gone (every second pass, so that a returned one is read
 * within two) and, in case something new appeared, now and then.
 */
#include "meter/meter_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "meter/meter_sources.h"
#include "meter/poller.h"
#include "meter/reader.h"

#define RESCAN_PASSES_GONE   2
#define RESCAN_PASSES_STEADY 30
/*
 * On a busy machine a thread can wait long for its CPU: with a shorter deadline the start would
 * find no meter.
 */
#define FIRST_SEARCH_NS (2 * NSEC_PER_SEC)

/* One that is open: read in each pass, or polled. */
struct source {
	const struct meter_ops *ops;
	struct reader *reader; /* NULL: it is polled */
	struct poller *poller;
	size_t zone_count; /* number of its zones that have a place */
	size_t beyond;     /* number of its zones for which the table had no place */
	unsigned passes_since_rescan;
	struct read_result results[METER_ZONES_MAX];
};

#define NO_ZONE SIZE_MAX

/* Where a zone is read, or would be. */
struct place {
	struct source *source;
	size_t index;
	size_t zone; /* of the table; NO_ZONE: it has not given a value yet */
	struct zone_status status;
};

struct meter_table {
	struct meter_options options;
	struct source sources[METERS_MAX];
	size_t source_count;
	struct place places[METER_ZONES_MAX];
	size_t place_count;
	size_t place_of[METER_ZONES_MAX]; /* [count]: of each zone */
	struct zone_status status[METER_ZONES_MAX];
	size_t count;
	struct energy_span spans[METER_ZONES_MAX]; /* of the last pass */
	size_t span_count;
	struct device_uses uses; /* of this pass, too */
};

static struct meter *meter_of(const struct source *source)
{
	return source->reader ? reader_meter(source->reader) : poller_meter(source->poller);
}

static const struct zone *zone_at(const struct place *place)
{
	return place->source->ops->zone_at(meter_of(place->source), place->index);
}

static bool any_gone(const struct meter_table *table, const struct source *source)
{
	for (size_t i = 0; i < table->place_count; i++) {
		if (table->places[i].source == source &&
		    table->places[i].status.state == ZONE_ABSENT)
			return true;
	}
	return false;
}

static bool rescan_is_due(const struct meter_table *table, const struct source *source)
{
	return source->passes_since_rescan + 1 >=
	       (any_gone(table, source) ? RESCAN_PASSES_GONE : RESCAN_PASSES_STEADY);
}

/* The first @count zones of @source have a place, behind those of others that came before. */
static void adopt_places(struct meter_table *table, struct source *source, size_t count)
{
	for (; source->zone_count < count && table->place_count < METER_ZONES_MAX;
	     source->zone_count++)
		table->places[table->place_count++] = (struct place){
			.source = source,
			.index = source->zone_count,
			.zone = NO_ZONE,
			.status = { .state = ZONE_MISSED }, /* not asked yet */
		};
	source->beyond = count - source->zone_count;
}

/* The place has given its first value. */
static void make_zone(struct meter_table *table, size_t index)
{
	table->places[index].zone = table->count;
	table->status[table->count] = table->places[index].status;
	table->place_of[table->count++] = index;
}

static void fail(struct zone_status *status, enum zone_state state, int err)
{
	status->state = state;
	status->error = err;
	status->errors++;
}

/* Good, or at least known from here on. */
static void take_span(struct meter_table *table, struct place *place,
		      const struct read_result *result)
{
	struct zone_status *status = &place->status;
	struct energy_span *span = &table->spans[table->span_count++];

	status->state = result->refused ? ZONE_REFUSED : ZONE_UP;
	status->error = result->refused ? -EOVERFLOW : 0;
	status->caveat = result->caveat;
	status->errors += result->refused;
	*span = result->span;
	span->zone = (uint32_t)place->zone;
}

static void take_result(struct meter_table *table, size_t index)
{
	struct place *place = &table->places[index];
	const struct read_result *result = &place->source->results[place->index];
	struct zone_status *status = &place->status;

	if (place->zone == NO_ZONE && result->has_value)
		make_zone(table, index);
	if (result->outcome == READ_NOTHING || result->error == -EAGAIN)
		return; /* unchanged; energy that flows meanwhile is in its next span */
	if (result->outcome == READ_STALLED)
		fail(status, ZONE_STALLED, result->error);
	else if (result->outcome == READ_MISSED)
		fail(status, ZONE_MISSED, result->error);
	else if (result->error == -ENODEV || result->error == -ENOENT)
		fail(status, ZONE_ABSENT, result->error);
	else if (result->error < 0)
		fail(status, ZONE_ERROR, result->error);
	else if (place->zone == NO_ZONE)
		fail(status, ZONE_REFUSED, -EOVERFLOW); /* all of its readings were refused */
	else
		take_span(table, place, result);
	status->reads = result->reads;
	status->wraps = result->wraps;
	status->dropped = result->dropped;
	status->refusals = result->refusals;
}

static void read_source(struct meter_table *table, struct source *source, uint64_t deadline_ns)
{
	bool rescan = rescan_is_due(table, source);
	size_t count;

	if (source->reader)
		count = reader_pass(source->reader, rescan, deadline_ns, source->results);
	else
		count = poller_collect(source->poller, rescan, source->results, &table->uses);
	source->passes_since_rescan = rescan ? 0 : source->passes_since_rescan + 1;
	adopt_places(table, source, count);
}

/* The deadline is shared by those that are waited for. */
static uint64_t deadline_of_one(const struct meter_table *table)
{
	uint64_t readers = 0;

	for (size_t i = 0; i < table->source_count; i++)
		readers += table->sources[i].reader != NULL;
	return table->options.read_deadline_ns / (readers ? readers : 1);
}

static void run_pass(struct meter_table *table)
{
	device_uses_clear(&table->uses);
	for (size_t i = 0; i < table->source_count; i++)
		read_source(table, &table->sources[i], deadline_of_one(table));
	table->span_count = 0;
	for (size_t i = 0; i < table->place_count; i++)
		take_result(table, i);
	for (size_t z = 0; z < table->count; z++)
		table->status[z] = table->places[table->place_of[z]].status;
}

size_t meter_table_read(struct meter_table *table, struct meter_pass *ret)
{
	size_t up = 0;

	run_pass(table);
	for (size_t i = 0; i < table->count; i++)
		up += table->status[i].state == ZONE_UP;
	*ret = (struct meter_pass){ table->status, table->count, table->spans, table->span_count,
				    &table->uses };
	return up;
}

int meter_table_expect(struct meter_table *table, uint64_t at_ns, uint64_t period_ns,
		       uint64_t fresh_ns)
{
	const struct source *only = NULL;
	size_t readers = 0;

	for (size_t i = 0; i < table->source_count; i++) {
		if (!table->sources[i].reader)
			continue;
		only = &table->sources[i];
		readers++;
	}
	if (readers != 1)
		return -1;
	return reader_expect(only->reader, at_ns, rescan_is_due(table, only) ? 0 : period_ns,
			     fresh_ns, table->options.read_deadline_ns);
}

bool meter_table_has_searched(const struct meter_table *table)
{
	bool all = true;

	for (size_t i = 0; i < table->source_count; i++) {
		const struct source *source = &table->sources[i];

		all &= source->reader ? reader_has_searched(source->reader)
				      : poller_has_searched(source->poller);
	}
	return all;
}

size_t meter_table_count(const struct meter_table *table)
{
	return table->count;
}

const struct zone *meter_table_zone(const struct meter_table *table, size_t index)
{
	return zone_at(&table->places[table->place_of[index]]);
}

const struct zone *meter_table_silent(const struct meter_table *table, size_t index,
				      struct zone_status *ret)
{
	for (size_t i = 0; i < table->place_count; i++) {
		const struct place *place = &table->places[i];

		if (place->zone != NO_ZONE || index-- > 0)
			continue;
		*ret = place->status;
		return zone_at(place);
	}
	return NULL;
}

size_t meter_table_silent_count(const struct meter_table *table)
{
	return table->place_count - table->count;
}

const struct meter *meter_table_meter(const struct meter_table *table, const struct meter_ops *ops)
{
	for (size_t i = 0; i < table->source_count; i++) {
		if (table->sources[i].ops == ops)
			return meter_of(&table->sources[i]);
	}
	return NULL;
}

size_t meter_table_ignored(const struct meter_table *table)
{
	size_t ignored = 0;

	for (size_t i = 0; i < table->source_count; i++) {
		const struct source *source = &table->sources[i];

		ignored += source->beyond;
		if (source->ops->ignored)
			ignored += source->ops->ignored(meter_of(source));
	}
	return ignored;
}

uint64_t meter_table_unread_device_files(const struct meter_table *table)
{
	uint64_t unread = 0;

	for (size_t i = 0; i < table->source_count; i++) {
		const struct source *source = &table->sources[i];

		if (source->ops->unread_device_files)
			unread += source->ops->unread_device_files(meter_of(source));
	}
	return unread;
}

unsigned meter_table_needs(const struct meter_table *table)
{
	unsigned needs = 0;

	for (size_t i = 0; i < table->source_count; i++)
		needs |= table->sources[i].ops->needs;
	return needs;
}

bool meter_table_find_device(const struct meter_table *table, const char *uuid,
			     struct device_part *ret)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct zone *zone = meter_table_zone(table, i);

		if (zone->domain.kind != DOMAIN_DEVICE || strcmp(zone->instance, uuid) != 0)
			continue;
		*ret = (struct device_part){ zone->domain.number, DEVICE_WHOLE };
		return true;
	}
	for (size_t i = 0; i < table->source_count; i++) {
		const struct source *source = &table->sources[i];

		if (source->ops->find_part && source->ops->find_part(meter_of(source), uuid, ret))
			return true;
	}
	return false;
}

bool meter_table_remark(const struct meter_table *table, size_t index, struct meter_remark *ret)
{
	for (size_t i = 0; i < table->source_count; i++) {
		const struct source *source = &table->sources[i];
		size_t own = 0;

		if (!source->ops->remark)
			continue;
		while (source->ops->remark(meter_of(source), own, ret)) {
			if (index-- == 0)
				return true;
			own++;
		}
	}
	return false;
}

void meter_table_close(struct meter_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->source_count; i++) {
		const struct meter_ops *ops = table->sources[i].ops;
		uint64_t patience_ns = table->options.read_deadline_ns;

		if (ops->close_ns > patience_ns)
			patience_ns = ops->close_ns;
		reader_free(table->sources[i].reader, patience_ns);
		poller_free(table->sources[i].poller, patience_ns);
	}
	device_uses_release(&table->uses);
	free(table);
}

static int open_source(struct meter_table *table, const struct meter_ops *ops,
		       const struct meter_options *options)
{
	struct source *source = &table->sources[table->source_count];
	struct meter *meter;
	int r = ops->open(options, &meter);

	if (r < 0)
		return r;
	r = ops->period_ns ? poller_new(ops, meter, options->max_power_uw, &source->poller)
			   : reader_new(ops, meter, options->max_power_uw, &source->reader);
	if (r < 0)
		return r;
	source->ops = ops;
	table->source_count++;
	return 0;
}

/* All pollers are at work already. */
static void search_all(struct meter_table *table)
{
	uint64_t deadline_ns = table->options.read_deadline_ns;
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) +
			  (deadline_ns > FIRST_SEARCH_NS ? deadline_ns : FIRST_SEARCH_NS);

	for (size_t i = 0; i < table->source_count; i++) {
		struct source *source = &table->sources[i];
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t left_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		size_t first = table->place_count;
		bool has_value[METER_ZONES_MAX];

		adopt_places(table, source,
			     source->reader ? reader_search(source->reader, left_ns, has_value)
					    : poller_search(source->poller, left_ns, has_value));
		for (size_t at = first; at < table->place_count; at++) {
			if (has_value[table->places[at].index])
				make_zone(table, at);
		}
	}
}

int meter_table_open_sources(const struct meter_ops *const *sources,
			     const struct meter_options *options, struct meter_table **ret)
{
	struct meter_table *table = calloc(1, sizeof(*table));
	int r = 0;

	if (!table)
		return -ENOMEM;
	table->options = *options;
	table->options.sysfs = table->options.procfs = NULL; /* a meter has its own copy */
	for (size_t i = 0; sources[i] && r == 0; i++) {
		if (i == METERS_MAX)
			r = -E2BIG;
		else if (meter_is_chosen(sources[i], options))
			r = open_source(table, sources[i], options);
	}
	if (r < 0) {
		meter_table_close(table);
		return r;
	}
	search_all(table);
	*ret = table;
	return 0;
}

int meter_table_open_source(const struct meter_ops *ops, const struct meter_options *options,
			    struct meter_table **ret)
{
	const struct meter_ops *const sources[] = { ops, NULL };

	return meter_table_open_sources(sources, options, ret);
}

int meter_table_open(const struct meter_options *options, struct meter_table **ret)
{
	return meter_table_open_sources(meter_sources, options, ret);
}
