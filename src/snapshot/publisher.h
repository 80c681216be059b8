/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the ledger does the outside see, and when? The rules that keep counters honest under
 * PromQL. Pure but for the swap. Why they are as they are: docs/design/publication.md
 *
 * Process rows:
 *  - Admission. A process has no series of its own until it has used min_uj (dynamic + idle, in
 *    its largest zone) and runs. What it used in earlier intervals was published in its
 *    container's one series with pid="" and command="other" and stays there (that series is
 *    monotone); what it uses in the interval of admission and later is in its own.
 *  - Settling. A series born after the first snapshot is published as 0 for settle_ns, so that a
 *    scrape sees the 0 and increase() loses nothing; then with its full value. What is held back
 *    is in `pending`. The first snapshot settles nothing. An "other" series and a container born
 *    later settle too. Retired series do not (they only receive what was visible before).
 *  - Keeping. An ended process keeps its last value for keep_ns after it ended (and after it
 *    settled), scraped or not; for settle_ns where that is more.
 *  - Retiring. When it is removed, or merged at the limit of rows, its total moves to the retired
 *    row of its container, never to "other".
 *  - The limit. max_rows are those of all levels; those of owners come first, with all that they
 *    may come to need (publication.h), processes have the rest. One that asks for a series when
 *    that is taken gets it if the smallest settled series is smaller than what it used itself;
 *    that one is merged, and counted. A merged process that lives on is charged to "other" from
 *    then on, until it has used min_uj again. When max_rows is lowered, the smallest are merged,
 *    settled ones first.
 *  - No series twice. Two rows of one snapshot never have equal labels (start times are no
 *    label). A process that comes back to labels it had (after an exec, or from another cgroup)
 *    goes on in the series that was kept for it. Another process with the pid, command and
 *    container of one that is still kept replaces it: the old series is retired, the new one
 *    starts at 0 with its own birth; but only once the last value of the old one was visible for
 *    settle_ns, until then the new process is in "other".
 *
 * Container rows: every container is admitted with the first snapshot after it was made in the
 * ledger; settling, keeping (once it has no process rows and was idle for keep_ns) and retiring as
 * above, the retired row being that of its namespace. When a container goes, its process-level
 * "other" and retired rows move to the retired row of its namespace as well (labels
 * container_id="", container_name="", pod_name=""). Beyond 1024 namespaces, containers retire to
 * the namespace "".
 *
 * A container with another bearer than before (a virtual machine that is known by its name, which
 * another one had) goes on in the row until the last value of the one before was visible for
 * settle_ns. Then row, process rows and, if it has no other container, VM are retired, and the
 * bearer begins anew.
 *
 * Pod, VM and namespace rows: likewise, once they have no container any more. Pods retire to their
 * namespace, VMs and namespaces to one row each. What happens to a container (it restarts, is
 * retired, gets other names) does not change the value of its pod.
 *
 * A container that waits for its names has no series: what it uses is pending at the levels of
 * processes and containers, at those of namespaces and pods unless the names of its pod are known,
 * and at that of VMs if it is known to be one. When it has its names, all of that is in the series
 * of its own (born then) and of its pod, VM and namespace.
 *
 * Owners beyond max_rows. Where the next container might not fit, the ledger's rows of containers
 * are full. Where there are more already, the smallest that have settled are merged, running ones
 * too.
 *
 * The ledger's limits. When more than 7/8 of its rows (of processes, containers, pods, VMs or
 * namespaces) are in use, ended ones are kept for settle_ns only, and counted. When there was no
 * room for a process, what it used is in the "other" of its container, and the smallest processes
 * without a series that did not run in this interval are forgotten: when they run again they begin
 * anew. When there was no room for an owner, the smallest containers that did not run in this
 * interval are merged: all that they have is retired, and when they run again they are new. What
 * ran meanwhile without a row is in the owner "other" of its namespace and stays there.
 *
 * Cost: per interval, in proportion to the rows that were touched, plus one pass over the published
 * rows to copy them. No allocation after warm-up but for growth.
 */
#pragma once

#include <stdint.h>

#include "attribution/ledger.h"
#include "snapshot/publisher_options.h"
#include "snapshot/snapshot.h"

struct publisher;

/* The end of an interval, by three clocks. */
struct publication_time {
	uint64_t monotonic_ns;
	int64_t boottime_ms, realtime_ms;
};

/*
 * @ledger and @holder are borrowed and must outlive the publisher. Snapshots stay valid when the
 * publisher is gone; a holder serves one publisher. 0 or -ENOMEM.
 */
int publisher_new(const struct publisher_options *options, struct ledger *ledger,
		  struct snapshot_holder *holder, struct publisher **ret);
void publisher_free(struct publisher *publisher);
/* The parts of the program that each snapshot contains from now on. @sources are borrowed. */
void publisher_set_health(struct publisher *publisher, const struct health_source *sources,
			  size_t count);
/* After a reload; takes effect with the next interval. What has settled stays so. */
void publisher_set_options(struct publisher *publisher, const struct publisher_options *options);
/*
 * Publishes the ledger's interval: applies the rules, releases ledger rows whose time is over,
 * builds the snapshot, swaps it in. To be called once for each ledger_begin(). @zones
 * [ledger_zones()] carry everything but node_uj and unattributed_uj, which come from the ledger;
 * their births, and the start of the program in @node, are CLOCK_BOOTTIME here. 0
 * or -ENOMEM (the old snapshot stays, and the next one makes up for it).
 */
int publisher_publish(struct publisher *publisher, const struct publication_time *time,
		      const struct snapshot_zone *zones, const struct snapshot_node *node);

/* What the snapshots say of power now; valid until the next one. */
const struct power_picture *publisher_power(const struct publisher *publisher);

/* How a row of the ledger is shown since the last publisher_publish(). */
struct publisher_view {
	bool is_there; /* the ledger still has the row: the rest is 0 without it */
	const struct series_labels *labels; /* of its own series, the snapshot's; NULL: none */
	uint64_t counts_uj;                 /* process without series: what counts towards min_uj */
};

/* Of the row number @row of its table, where that still is the one with @serial. */
struct publisher_view publisher_look(const struct publisher *publisher, enum level level,
				     uint32_t row, uint64_t serial);
