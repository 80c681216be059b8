/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of the ledger is published, and when? These rules keep counters correct under PromQL;
 * docs/design/publication.md gives the reasons. Pure except for the swap.
 *
 * Process rows:
 *  - Admission. A process has no series of its own until it has used min_uj (dynamic + idle, in
 *    its largest zone) and runs. What it used in earlier intervals was published in its
 *    container's one series with pid="" and command="other" and stays there (that series is
 *    monotone); what it uses in the interval of admission and later is in its own.
 *  - Settling. A series born after the first snapshot is published as 0 for settle_ns, so that a
 *    scrape sees the 0 and increase() loses nothing; then with its full value. The energy held
 *    back is in `pending`. The first snapshot settles nothing. An "other" series and a container
 *    born later settle too. Retired series do not (they only receive what was visible before).
 *  - Keeping. An ended process keeps its last value for keep_ns after it ended (and after it
 *    settled), scraped or not; for settle_ns if that is longer.
 *  - Retiring. When it is removed, or merged at the limit of rows, its total moves to the retired
 *    row of its container, never to "other".
 *  - The limit. max_rows counts the rows of all levels. Owners come first, with all rows that they
 *    may come to need (publication.h); processes get the rest. When that is taken, a process still
 *    gets a series if it has used more than the smallest settled series, which is then merged and
 *    counted. A merged process that lives on is charged to "other" from then on, until it has
 *    used min_uj again. When max_rows is lowered, the smallest are merged, settled ones first.
 *  - No series twice. Two rows of one snapshot never have equal labels (start times are not
 *    labels). A process that comes back to labels it had (after an exec, or from another cgroup)
 *    continues the series that was kept for it. Another process with the pid, command and
 *    container of one that is still kept replaces it: the old series is retired, the new one
 *    starts at 0 with its own birth; but only once the last value of the old one was visible for
 *    settle_ns, until then the new process is in "other".
 *
 * Container rows: every container is admitted with the first snapshot after it was made in the
 * ledger. Settling, keeping (once it has no process rows and was idle for keep_ns) and retiring
 * work as above; it retires to the retired row of its namespace. When a container goes, its
 * process-level "other" and retired rows move to the retired row of its namespace as well (labels
 * container_id="", container_name="", pod_name=""). Beyond 1024 namespaces, containers retire to
 * the namespace "".
 *
 * If the id of a container passes to another owner (a virtual machine is known by its name, which
 * an earlier one had), the new owner continues the row until the last value of the earlier one was
 * visible for settle_ns. Then the row, its process rows and, if it has no other container, its VM
 * are retired, and the new owner starts again.
 *
 * Pod, VM and namespace rows follow the same rules, once they have no container any more. Pods
 * retire to their namespace, VMs and namespaces to one row each. The value of a pod does not change
 * when one of its containers restarts, is retired or gets other names.
 *
 * A container that waits for its names has no series: its use is pending at the levels of processes
 * and containers, at the levels of namespaces and pods unless the names of its pod are known, and
 * at the level of VMs if it is known to be one. Once it has its names, all of that use is in its
 * own series (born then) and in the series of its pod, VM and namespace.
 *
 * Owners beyond max_rows. If the next container might not fit, the ledger's rows of containers
 * count as full. If there are too many already, the smallest that have settled are merged, even
 * running ones.
 *
 * The ledger's limits. When more than 7/8 of its rows (of processes, containers, pods, VMs or
 * namespaces) are in use, ended ones are kept for settle_ns only, and counted. When there was no
 * room for a process, its use is in the "other" of its container, and the smallest processes
 * without a series that did not run in this interval are forgotten: when they run again they start
 * at 0. When there was no room for an owner, the smallest containers that did not run in this
 * interval are merged: all their values are retired, and when they run again they are new. The use
 * of owners that had no row meanwhile is in the owner "other" of its namespace and stays there.
 *
 * Cost: per interval, in proportion to the rows that were touched, plus one pass over the published
 * rows to copy them. After warm-up, memory is allocated for growth only.
 */
#pragma once

#include <stdint.h>

#include "attribution/ledger.h"
#include "attribution/unit_accounts.h"
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
/* The units of work that each snapshot contains from now on; borrowed. */
void publisher_set_units(struct publisher *publisher, const struct unit_accounts *units);
/*
 * Called after a reload; takes effect with the next interval. A series that has settled stays
 * settled.
 */
/* Where the users of processes are noted; borrowed, NULL: nowhere. */
void publisher_set_users(struct publisher *publisher, const struct process_users *users);
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

/* The power in the snapshots now; valid until the next one. */
const struct power_picture *publisher_power(const struct publisher *publisher);

/* How a row of the ledger is shown since the last publisher_publish(). */
struct publisher_view {
	bool is_there; /* the ledger still has the row: the rest is 0 without it */
	const struct series_labels *labels; /* of its own series, the snapshot's; NULL: none */
	uint64_t counts_uj;                 /* process without series: its use towards min_uj */
};

/* Looks up row number @row of its table, if the row there still has @serial. */
struct publisher_view publisher_look(const struct publisher *publisher, enum level level,
				     uint32_t row, uint64_t serial);
