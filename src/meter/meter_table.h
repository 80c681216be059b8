/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all zones that the program reads, from all sources.
 *
 * meter_table_read() reads them all back to back, waits at most @deadline_ns in all, and never
 * longer: a read that has not come back is left to finish alone on its thread (at most one a zone),
 * and the zone is ZONE_STALLED until it does. A zone whose read was not started in time is
 * ZONE_MISSED. From a source with a period it takes the latest results, and waits for nothing: a
 * zone has a span in the pass after its poll, and is ZONE_STALLED while a poll takes more than
 * three periods.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "meter/meter.h"

struct meter_table;

/*
 * 0 or -errno. Without a meter the result is 0 as well: the table has no zones then, and searches
 * for some now and then. Waits for the first searches of all sources for at most two seconds in
 * all, or the deadline if that is longer.
 */
int meter_table_open(const struct meter_options *options, struct meter_table **ret);
/* As meter_table_open, over given sources (NULL ends them), or one. */
int meter_table_open_sources(const struct meter_ops *const *sources,
			     const struct meter_options *options, struct meter_table **ret);
int meter_table_open_source(const struct meter_ops *ops, const struct meter_options *options,
			    struct meter_table **ret);
/*
 * Waits at most the deadline; a thread that is still stuck in a read then frees what it holds when
 * the read returns.
 */
void meter_table_close(struct meter_table *table);
/*
 * The next calls of meter_table_read() will be at @at_ns (MONOTONIC) and every @period_ns from then
 * on. To be called after each of them. If all files are read by one thread and no search is due,
 * the thread begins by itself. The descriptor, which is the table's, is then readable once
 * meter_table_read() need not wait, and readings that began more than @fresh_ns before that call
 * are repeated. Else -1.
 */
int meter_table_expect(struct meter_table *table, uint64_t at_ns, uint64_t period_ns,
		       uint64_t fresh_ns);
/* False while the first search of some source is still under way: a driver hangs, or is slow. */
bool meter_table_has_searched(const struct meter_table *table);
/* Zones known; grows when new ones appear (in meter_table_read), never shrinks. */
size_t meter_table_count(const struct meter_table *table);
const struct zone *meter_table_zone(const struct meter_table *table, size_t index);
/*
 * The results of one pass over the zones; valid until the next one. A zone has at most one span,
 * and none where nothing new was read: energy that flows meanwhile is in its next span. Spans are
 * in the order of zones.
 */
struct meter_pass {
	const struct zone_status *status; /* [zone_count] */
	size_t zone_count;
	const struct energy_span *spans;
	size_t span_count;
	const struct device_uses *uses; /* of devices, since the last pass */
};
/* Returns the number of zones that are up. The first span of a zone is not known: its baseline. */
size_t meter_table_read(struct meter_table *table, struct meter_pass *ret);
/* The device that has that UUID, all of it, or a part that has: "GPU-…", "MIG-…". */
bool meter_table_find_device(const struct meter_table *table, const char *uuid,
			     struct device_part *ret);
/* The meter of the source @ops; NULL: it is not open. */
const struct meter *meter_table_meter(const struct meter_table *table, const struct meter_ops *ops);
/* Zones that were found but not taken (limit, duplicates by intel-rapl-mmio), for doctor. */
size_t meter_table_ignored(const struct meter_table *table);
/*
 * Zones that were found and have not given a good value yet, and the reason. The table does not
 * count them until they do. From index 0 on; NULL after the last one.
 */
const struct zone *meter_table_silent(const struct meter_table *table, size_t index,
				      struct zone_status *ret);
size_t meter_table_silent_count(const struct meter_table *table);
/* Open device files that are beyond the limits now: their use is not known. */
uint64_t meter_table_unread_device_files(const struct meter_table *table);
/* Needs of the sources that are open, which may have no zones yet: bits of enum need. */
unsigned meter_table_needs(const struct meter_table *table);
/* The remarks of all sources, from index 0 on; false after the last one. For doctor. */
bool meter_table_remark(const struct meter_table *table, size_t index, struct meter_remark *ret);
