// SPDX-License-Identifier: Apache-2.0
/*
 * The zones of this node as one list. Each pass asks the reader for them; a zone that fails has no
 * span and says why, and its next span goes on from where the last one ended. The tree is searched
 * again when a zone is gone (every second pass, so that a returned one is read within two) and, in
 * case something new appeared, now and then.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/num.h"
#include "meter/meter.h"
#include "meter/reader.h"

#define RESCAN_PASSES_GONE   2
#define RESCAN_PASSES_STEADY 30
/*
 * On a busy machine a thread can wait long for its CPU: a start that is too impatient finds no
 * meter.
 */
#define FIRST_SEARCH_NS (2 * NSEC_PER_SEC)

struct meter_table {
	const struct meter_ops *ops;
	struct reader *reader;
	struct meter_options options;
	size_t count;
	unsigned passes_since_rescan;
	struct zone_status status[METER_ZONES_MAX];
	struct energy_span spans[METER_ZONES_MAX]; /* of the last pass */
	size_t span_count;
	struct read_result results[METER_ZONES_MAX];
};

static bool any_gone(const struct meter_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->status[i].state == ZONE_ABSENT)
			return true;
	}
	return false;
}

static bool rescan_is_due(const struct meter_table *table)
{
	return table->passes_since_rescan + 1 >=
	       (any_gone(table) ? RESCAN_PASSES_GONE : RESCAN_PASSES_STEADY);
}

static void fail(struct zone_status *status, enum zone_state state, int err)
{
	status->state = state;
	status->error = err;
	status->errors++;
}

/* Good, or at least known from here on. */
static void take_span(struct meter_table *table, size_t zone, const struct read_result *result)
{
	struct zone_status *status = &table->status[zone];
	struct energy_span *span = &table->spans[table->span_count++];

	status->state = result->refused ? ZONE_REFUSED : ZONE_UP;
	status->error = result->refused ? -EOVERFLOW : 0;
	status->errors += result->refused;
	*span = result->span;
	span->zone = (uint32_t)zone;
}

static void take_result(struct meter_table *table, size_t zone)
{
	const struct read_result *result = &table->results[zone];
	struct zone_status *status = &table->status[zone];

	if (result->outcome == READ_STALLED)
		fail(status, ZONE_STALLED, result->error);
	else if (result->outcome == READ_MISSED)
		fail(status, ZONE_MISSED, result->error);
	else if (result->error == -ENODEV || result->error == -ENOENT)
		fail(status, ZONE_ABSENT, result->error);
	else if (result->error < 0)
		fail(status, ZONE_ERROR, result->error);
	else
		take_span(table, zone, result);
	status->reads = result->reads;
	status->wraps = result->wraps;
	status->dropped = result->dropped;
	status->refusals = result->refusals;
}

static void run_pass(struct meter_table *table, bool rescan)
{
	table->count =
		reader_pass(table->reader, rescan, table->options.read_deadline_ns, table->results);
	table->passes_since_rescan = rescan ? 0 : table->passes_since_rescan + 1;
	table->span_count = 0;
	for (size_t i = 0; i < table->count; i++)
		take_result(table, i);
}

size_t meter_table_read(struct meter_table *table, struct meter_pass *ret)
{
	size_t up = 0;

	run_pass(table, rescan_is_due(table));
	for (size_t i = 0; i < table->count; i++)
		up += table->status[i].state == ZONE_UP;
	*ret = (struct meter_pass){ table->status, table->count, table->spans, table->span_count };
	return up;
}

bool meter_table_has_searched(const struct meter_table *table)
{
	return reader_has_searched(table->reader);
}

size_t meter_table_count(const struct meter_table *table)
{
	return table->count;
}

const struct zone *meter_table_zone(const struct meter_table *table, size_t index)
{
	return table->ops->zone_at(reader_meter(table->reader), index);
}

size_t meter_table_ignored(const struct meter_table *table)
{
	return table->ops->ignored(reader_meter(table->reader));
}

void meter_table_close(struct meter_table *table)
{
	if (!table)
		return;
	reader_free(table->reader, table->options.read_deadline_ns);
	free(table);
}

int meter_table_open_source(const struct meter_ops *ops, const struct meter_options *options,
			    struct meter_table **ret)
{
	CLEANUP_FREE struct meter_table *table = calloc(1, sizeof(*table));
	uint64_t deadline_ns = options->read_deadline_ns;
	struct meter *meter;
	int r;

	if (!table)
		return -ENOMEM;
	table->ops = ops;
	table->options = *options;
	table->options.sysfs = NULL; /* the meter has its own copy */
	r = ops->open(options, &meter);
	if (r < 0)
		return r;
	r = reader_new(ops, meter, options->max_power_uw, &table->reader);
	if (r < 0)
		return r;
	/* Only the zones: a first reading here would be a baseline long before the activity's. */
	deadline_ns = deadline_ns > FIRST_SEARCH_NS ? deadline_ns : FIRST_SEARCH_NS;
	table->count = reader_search(table->reader, deadline_ns);
	*ret = TAKE_PTR(table);
	return 0;
}

int meter_table_open(const struct meter_options *options, struct meter_table **ret)
{
	return meter_table_open_source(&rapl_sysfs_meter, options, ret);
}
