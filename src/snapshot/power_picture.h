/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process, container, pod, VM and namespace draws how much of the node's power: the one value
 * that the live table, the page at "/", `kepler doctor` and /api/v1/now show. It is made from the
 * ledger's interval before the rules of publication apply, so it has every process from its first
 * interval on.
 *
 * The total is the power of the zones that kepler_node_joules_total adds up (energy/total.h), and
 * rows are watts of the same zones. In integers, for the rows of each level:
 *
 *     Σ rows + other + idle + unattributed = total = Σ parts
 *
 * The same holds for the other views, which only a picture with all rows has (power_groups.h); the
 * energy of a user's rows since they began is not known, and 0.
 *
 * The picture has the largest rows, as many of each level as the caller asks for: a few while only
 * the live table shows them, all of them while a client asks for more.
 *
 * The parts make up the total. If zones are counted inside a zone of the total, as the components
 * of an estimate are, they are shown in its place, and the rest of that zone is a part, too:
 * package, dram, rest of platform. Only zones of the whole machine (psys, platform) are divided in
 * this way, and only while the zones inside draw no more than the whole does.
 */
#pragma once

#include "snapshot/power_types.h"

/* The rows that can be shown at a glance: a few processes and owners. */
extern const struct power_row_limits power_glance;
/* Everything that a client can ask for. */
extern const struct power_row_limits power_whole;

/* Copies it, with its rows to @rows, which has room for picture->row_count. */
void power_picture_copy(struct power_picture *ret, const struct power_picture *picture,
			struct power_row *rows);

/* The picture that was taken with it has no rows any more. */
void power_scratch_release(struct power_scratch *scratch);

/*
 * Takes the picture of the interval that @ledger has closed, before any row is released. @zones:
 * [ledger_zones()]. @elapsed_ns: that the pass over the processes covers. The picture's rows are
 * the scratch's.
 *
 * A source that is read less often than once an interval has intervals without a new reading; the
 * last picture stays until there is one. 0, or -ENOMEM: the last picture stays then, too.
 */
int power_picture_take(struct power_picture *picture, const struct ledger *ledger,
		       const struct snapshot_zone *zones, const struct power_row_limits *limits,
		       uint64_t elapsed_ns, int64_t realtime_ms, struct power_scratch *scratch);
