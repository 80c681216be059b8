/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy, counters and CPU time of all workloads: one row for each process, container, pod, VM and
 * namespace, cumulative, in integers. Pure: no clock, no I/O.
 *
 * A row has one value a column (layout.h): the energy of an account in one mode (µJ), where an
 * account is one zone or several of a kind; CPU time (ns); or a counter, in its own unit. A process
 * row is one set of labels: pid, start time, comm and container; when any of them changes (exec, a
 * move to another cgroup) the old row ends with its sums and a new one begins. A process that
 * returns to the labels of a row that is still kept continues in that row. A container's values are
 * the sum of all charges to its processes, living and ended.
 *
 * "Container" stands for any owner: services, VMs and jobs are such rows, too. Pods, VMs and
 * namespaces are groups of them: the values of a group are the sum of the charges to its containers
 * while they belonged to it. Charges are added to groups once an interval, container by container
 * (ledger_close()), so that the cost of a charge does not depend on groups.
 *
 * A container with awaited names (`waiting`) belongs to no group yet, or only to its pod and
 * namespace if their names are known. Its names may be replaced until they are final; when it joins
 * its first group of a kind, the group gets all that it used so far.
 *
 * The ledger also has each zone's totals of the node and their unattributed part, so that in
 * every interval, for every account a with its zones z, and every mode m:
 *
 *     Σ rows delta[a][m] + Σ z, reasons unattributed delta[z][m] = Σ z node delta[z][m]
 *
 * and for every other column Σ rows delta + unattributed delta = node delta.
 *
 * Life of an interval: ledger_begin() –
 * ledger_container()/ledger_process()/ledger_charge()/ledger_node() – ledger_close() – the
 * publisher reads the touched rows and releases those that are not needed: ledger_release(). An
 * interval costs in proportion to the rows that it touches. Values wrap at 2^64 µJ (584 years at
 * 1 kW).
 *
 * Names are untrusted bytes; rows refer to their interned form (energy/owner_names.h), so that
 * names that print alike are one name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "attribution/layout.h"
#include "attribution/level_info.h"
#include "attribution/rows/level_table.h"
#include "energy/owner_names.h"

#define LEDGER_NONE     INDEX_NONE
#define LEDGER_COMM_MAX 16

/*
 * The present owner of a process. The names are interned in the ledger's table; their container_id
 * is the key, an owner without one is the overflow owner. workload/identity.h explains the other
 * fields.
 *
 * LABELS_CONTAINER are the labels of the container's series: once they are published, other labels
 * make a new row. The rest may change in a row's life and decides to which groups the container
 * belongs.
 */
struct ledger_owner {
	const struct owner_names *names;
	uint32_t size_millicpu;
	bool waiting;
	bool has_pod_names; /* while waiting: pod and namespace are final */
	uint64_t bearer_ns; /* another one is another owner of the same id; 0: the id is enough */
};

struct ledger_process {
	struct level_row row;
	uint64_t start_ns; /* BOOTTIME */
	uint32_t pid;
	uint32_t container; /* row of its container */
	char comm[LEDGER_COMM_MAX];
};

struct ledger_container {
	struct level_row row;
	const struct owner_names *names; /* the row has a reference */
	uint64_t made_ns;                /* `now` of its first interval */
	uint64_t last_active_ns; /* `now` of the last interval with a charge or a new process */
	uint64_t bearer_ns;
	uint64_t inherited_ns; /* its last use before another bearer came; 0: none has */
	uint32_t size_millicpu;
	uint32_t living;              /* members that have not ended */
	uint32_t group[GROUP_LEVELS]; /* ledger_group_of() */
	/* LEVEL_BITs: its use before this interval is in the group, or never will be. */
	uint8_t grouped;
	/* Waits for its names: belongs to no group but a pod and namespace with theirs. */
	bool waiting : 1;
	bool has_pod_names : 1;
	bool is_there : 1;     /* its cgroup existed when last checked; false: gone or unknown */
	bool replaced : 1;     /* a row with newer labels has taken its place */
	bool is_misplaced : 1; /* no memory for its groups' names: to be joined again */
	bool is_other : 1;     /* stands for a namespace's owners beyond the limit */
};

/* A row of a group level: level_info.h. */
struct ledger_group {
	struct level_row row;
	const struct owner_names *names; /* level_keys() name it; other labels are "" */
	const struct owner_names *facts; /* the latest ones, if the level has any; else NULL */
	uint64_t last_active_ns;
};

/* The row of a group level that the container belongs to, or LEDGER_NONE. */
static inline uint32_t ledger_group_of(const struct ledger_container *container, enum level level)
{
	return container->group[level - LEVEL_GROUPS];
}

struct ledger_options {
	/*
	 * Rows, including ended ones that are kept; beyond it charges go to the container only
	 * (the pid="" series), counted, and the publisher releases the smallest rows.
	 */
	uint32_t max_processes;
	/*
	 * Beyond it a new owner is charged to the owner "other" of its namespace (container_id "",
	 * container_name "other"), counted; at most as many of these exist, then row 0
	 * is charged. Also the number of pods, of VMs and of namespaces; beyond it each has a group
	 * 0 without an id, "other", counted.
	 */
	uint32_t max_containers;
	struct names_table *names; /* where names are interned; NULL: a table of its own */
	bool by_zone;              /* rows have a column for each zone of a kind */
};

struct ledger;

int ledger_new(const struct ledger_options *options, struct ledger **ret);
void ledger_free(struct ledger *ledger);
/*
 * Adds a zone, numbered by the count of those before; it lives as long as the ledger. New columns
 * are 0. 0 or -ENOMEM (nothing changed).
 */
int ledger_add_zone(struct ledger *ledger, const struct zone *zone);
/* As layout_end_zone(). */
void ledger_end_zone(struct ledger *ledger, uint32_t zone);
/* The zone is charged again: the source that had replaced it stands still. */
void ledger_revive_zone(struct ledger *ledger, uint32_t zone);
/*
 * From now on rows have columns of idle energy, also for zones that are added later. 0 or -ENOMEM
 * (nothing changed).
 */
int ledger_bear_idle(struct ledger *ledger);
/*
 * From now on rows have counters of @quantities, which they must not have yet. A counter is 0 until
 * it counts: at once if @born_ns is 0, else once it has settled since then. 0 or -ENOMEM (nothing
 * changed).
 */
int ledger_count(struct ledger *ledger, const struct quantity *const *quantities, uint32_t count,
		 uint64_t born_ns);
/*
 * Does the counter in @column count in the interval that ends at @now_ns? Once it does, it goes on.
 */
bool ledger_counts(struct ledger *ledger, uint32_t column, uint64_t now_ns, uint64_t settle_ns);
/* The table of its names, to which those of ledger_container() must belong. */
struct names_table *ledger_names(const struct ledger *ledger);
/* The columns. Valid until the next one is added. */
const struct layout *ledger_layout(const struct ledger *ledger);
static inline uint32_t ledger_zones(const struct ledger *ledger)
{
	return ledger_layout(ledger)->zone_count;
}
static inline uint32_t ledger_columns(const struct ledger *ledger)
{
	return ledger_layout(ledger)->columns;
}
/* As layout_column(). */
static inline uint32_t ledger_column(const struct ledger *ledger, uint32_t zone,
				     enum energy_mode mode)
{
	return layout_column(ledger_layout(ledger), zone, mode);
}

/* Starts an interval: all deltas are 0, nothing is touched. */
void ledger_begin(struct ledger *ledger, uint64_t now_ns);
/*
 * Row of the owner, made when new. Never fails: at the limit or without memory it is "other" or row
 * 0. Changed names are entered in the row; if labels of its series changed, a new row begins (or an
 * old one with these labels, if kept, continues), unless the row is waiting and so has no series. A
 * row that has waited does not wait again. A row with another bearer than before is inherited: it
 * is to be released soon, so that the bearer gets a row of its own.
 */
uint32_t ledger_container(struct ledger *ledger, const struct ledger_owner *owner);
/*
 * The living row of the process with these labels, made when new; a row of the same pid and start
 * with other labels is ended, an ended one with these labels is revived. LEDGER_NONE at the limit,
 * without memory (both counted) or for pid 0, the idle task: charge such work with
 * ledger_charge_container().
 */
uint32_t ledger_process(struct ledger *ledger, uint32_t pid, uint64_t start_ns, const char *comm,
			uint32_t container);
/* The living row of (pid, start), or LEDGER_NONE. */
uint32_t ledger_find_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns);
/* Begins to load what both of them read; see map_prefetch(). */
void ledger_prefetch_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns);
/* The container is touched as well when none of its processes is alive any more. */
void ledger_end_process(struct ledger *ledger, uint32_t process);
/* Does the cgroup of a container without process rows still exist? */
void ledger_set_there(struct ledger *ledger, uint32_t container, bool is_there);
/* Adds to a column of the process and of its container. */
void ledger_charge(struct ledger *ledger, uint32_t process, uint32_t column, uint64_t amount);
/* Adds to a column of a container only: work of unnamed processes. */
void ledger_charge_container(struct ledger *ledger, uint32_t container, uint32_t column,
			     uint64_t amount);
/* The node's own counters. */
void ledger_node(struct ledger *ledger, uint32_t zone, enum energy_mode mode, uint64_t amount_uj);
void ledger_unattributed(struct ledger *ledger, uint32_t zone, enum energy_mode mode,
			 enum unattributed_reason reason, uint64_t amount_uj);
/* Adds to the node's sum in a column that is not energy, and to the part of it that no row got. */
void ledger_node_sum(struct ledger *ledger, uint32_t column, uint64_t amount,
		     uint64_t unattributed);

/*
 * Ends the charges of an interval: adds them to the groups; a row that waited LEDGER_WAIT_NS waits
 * no longer. The publisher and ledger_begin() call it; a second call has no effect.
 */
#define LEDGER_WAIT_NS (60 * 1000000000ULL)
void ledger_close(struct ledger *ledger);

/*
 * Reading. Pointers are valid until the next call that may make a row. Rows are 0..count-1, with
 * holes (level_table.h). Touched are those that were charged, made or ended in this interval, each
 * once; one released since is not `used`. Groups are as of ledger_close().
 */
const struct level_table *ledger_level(const struct ledger *ledger, enum level level);
static inline const struct ledger_process *ledger_process_at(const struct ledger *ledger,
							     uint32_t process)
{
	return level_table_at(ledger_level(ledger, LEVEL_PROCESS), process);
}
static inline const struct ledger_container *ledger_container_at(const struct ledger *ledger,
								 uint32_t container)
{
	return level_table_at(ledger_level(ledger, LEVEL_CONTAINER), container);
}
static inline const struct ledger_group *ledger_group_at(const struct ledger *ledger,
							 enum level level, uint32_t row)
{
	return level_table_at(ledger_level(ledger, level), row);
}
static inline uint32_t ledger_slots(const struct ledger *ledger, enum level level)
{
	return ledger_level(ledger, level)->count;
}
/* [columns], cumulative. */
static inline const uint64_t *ledger_values(const struct ledger *ledger, enum level level,
					    uint32_t row)
{
	return level_table_values(ledger_level(ledger, level), row);
}
/* [columns], of this interval; NULL unless touched. */
static inline const uint64_t *ledger_deltas(const struct ledger *ledger, enum level level,
					    uint32_t row)
{
	return level_table_deltas(ledger_level(ledger, level), row);
}
static inline const uint32_t *ledger_touched(const struct ledger *ledger, enum level level,
					     size_t *ret_count)
{
	*ret_count = ledger_level(ledger, level)->touched_count;
	return ledger_level(ledger, level)->touched;
}
/* How many containers wait for their names. */
uint32_t ledger_waiting(const struct ledger *ledger);
/*
 * Processes, or containers, that got no row in this interval; each container counts once, up to
 * LEDGER_REFUSED_MAX of them.
 */
#define LEDGER_REFUSED_MAX 64U
uint32_t ledger_refused(const struct ledger *ledger, enum level level);
/* Limits the rows of containers to @rows; never more than max_containers. */
void ledger_limit_containers(struct ledger *ledger, uint32_t rows);
/* How many rows count towards the limit of their level: of groups all but "other". */
uint32_t ledger_limited_rows(const struct ledger *ledger, enum level level);
/* So far; of groups, also without memory for their names. */
uint64_t ledger_overflows(const struct ledger *ledger, enum level level);
/* More than 7/8 of the rows are in use: ended rows are to be released early. */
bool ledger_is_crowded(const struct ledger *ledger, enum level level);
uint64_t ledger_node_value(const struct ledger *ledger, uint32_t zone, enum energy_mode mode);
uint64_t ledger_node_delta(const struct ledger *ledger, uint32_t zone, enum energy_mode mode);
/* The same in this interval, for all reasons. */
uint64_t ledger_unattributed_delta(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode);
uint64_t ledger_unattributed_value(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode, enum unattributed_reason reason);
/* The node's sum in a column that is not energy, so far. */
struct ledger_sum {
	uint64_t node, unattributed;
	uint64_t born_ns; /* of a counter that does not count yet; else 0 */
};
const struct ledger_sum *ledger_sum(const struct ledger *ledger, uint32_t column);

/*
 * Frees a row with its values; its container and groups keep theirs. A living process is ended
 * first. A container or group that has members stays, and so does row 0.
 */
void ledger_release(struct ledger *ledger, enum level level, uint32_t row);
