/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of who used what: one row a process, one row a container, one a pod, VM and namespace,
 * cumulative, in integers. Pure: no clock, no I/O.
 *
 * A row has one value a column: column z * MODE_COUNT + m is the energy of zone z in mode m (µJ),
 * the last column is CPU time (ns). A process row is one set of labels: pid, start time, comm and
 * container; when any of them changes (exec, a move to another cgroup) the old row ends and a new
 * one begins, so that what was counted stays where it was. A process that goes back to labels whose
 * row is still kept goes on in that row. A container's values are the sum of all charges to its
 * processes, living and gone.
 *
 * "Container" stands for any owner: a service, a VM, a job are such rows, too. Pods, VMs and
 * namespaces are groups of them: what a group has is the sum of what was charged to its containers
 * while they belonged to it. Groups are booked once an interval, container by container
 * (ledger_close()), so that a charge costs the same whatever it belongs to.
 *
 * A container whose names are still awaited (`waiting`) belongs to no group yet, or only to its pod
 * and namespace if their names are known. Its names may be replaced until they are there; all that
 * it used so far goes to a group at once when it joins its first one of that kind.
 *
 * The ledger also keeps the node's totals and what no process got, so that in every interval, for
 * every zone z and mode m:
 *
 *     Σ rows delta[z][m] + Σ reasons unattributed delta[z][m] = node delta[z][m]
 *
 * Life of an interval: ledger_begin() –
 * ledger_container()/ledger_process()/ledger_charge()/ledger_node() – ledger_close() – the
 * publisher reads `touched`. The publisher decides when an ended row may go:
 * ledger_release_process(). An interval costs in proportion to the rows that it touches. Values
 * wrap at 2^64 µJ (584 years at 1 kW).
 *
 * Names are untrusted bytes; rows refer to them as interning makes them (energy/owner_names.h), so
 * that names that print alike are one name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/attribute.h"
#include "energy/owner_names.h"

#define LEDGER_NONE     UINT32_MAX
#define LEDGER_COMM_MAX 16

/*
 * Who owns a process, as of now. The names are interned in the ledger's table; their container_id
 * is the key, an owner without one is the overflow owner. What the rest means:
 * workload/identity.h, whose fields these are.
 *
 * LABELS_CONTAINER are those of the container's series: once published, other ones make a new row.
 * The rest may change in a row's life, and decides to which groups the container belongs.
 */
struct ledger_owner {
	const struct owner_names *names;
	uint32_t size_millicpu;
	bool waiting;
	bool has_pod_names; /* while waiting: pod and namespace are as they will be */
};

enum ledger_group { LEDGER_POD, LEDGER_VM, LEDGER_NAMESPACE, LEDGER_GROUP_COUNT };

struct ledger_process {
	uint32_t pid;
	uint64_t start_ns; /* BOOTTIME */
	char comm[LEDGER_COMM_MAX];
	uint32_t container; /* row of its container */
	bool used;          /* this slot holds a row */
	bool ended;
	bool touched;    /* charged in this interval */
	uint64_t serial; /* unique for the life of the program */
};

struct ledger_container {
	const struct owner_names *names; /* the row has a reference */
	uint32_t size_millicpu;
	uint32_t group[LEDGER_GROUP_COUNT]; /* rows it belongs to, or LEDGER_NONE */
	uint32_t processes; /* rows that belong to it, ended ones that are still kept included */
	uint32_t living;    /* those of them that have not ended */
	bool used;
	bool touched;
	bool waiting; /* for its names; belongs to no group but a pod and namespace with theirs */
	bool has_pod_names;
	bool is_there;     /* its cgroup is, as of the last look; false: it is gone, or not known */
	bool replaced;     /* a row with newer labels has taken its place */
	bool is_misplaced; /* without memory for its groups' names: joined again when it works */
	bool is_other;     /* of all owners of a namespace for which there was no room */
	/* What it used before this interval is in the group, or never will be. */
	bool grouped[LEDGER_GROUP_COUNT];
	uint64_t serial;
	uint64_t made_ns;        /* `now` of its first interval */
	uint64_t last_active_ns; /* `now` of the last interval with a charge or a new process */
};

struct ledger_group_row {
	/* What names the group, the rest is "": LABELS_POD, LABELS_VM, LABEL_NAMESPACE. */
	const struct owner_names *names;
	const struct owner_names *facts; /* of a pod, LABELS_POD_FACTS: the last told; else NULL */
	uint32_t owners; /* container rows that belong to it, ended ones that are kept included */
	bool used;
	bool touched;
	uint64_t serial;
	uint64_t last_active_ns;
};

struct ledger_options {
	/*
	 * Rows, ended ones that are kept included; beyond it charges go to the container only
	 * (the pid="" series), counted, and the publisher lets the smallest rows go.
	 */
	uint32_t max_processes;
	/*
	 * Beyond it a new owner is charged to the owner "other" of its namespace (container_id "",
	 * container_name "other"), counted; those are not more than as many again, then it is
	 * `overflow`. Also the number of pods, of VMs and of namespaces; beyond it each has a group
	 * 0 without an id, "other", counted.
	 */
	uint32_t max_containers;
	const struct owner_names
		*overflow;         /* the owner that always fits, row 0: system_processes */
	struct names_table *names; /* where names are interned; NULL: a table of its own */
};

struct ledger;

int ledger_new(const struct ledger_options *options, struct ledger **ret);
void ledger_free(struct ledger *ledger);
/* Grows the number of zones (never shrinks). New columns are 0. 0 or -ENOMEM. */
int ledger_set_zones(struct ledger *ledger, uint32_t zones);
/* Where its names are, and those of ledger_container() must be. */
struct names_table *ledger_names(const struct ledger *ledger);
uint32_t ledger_zones(const struct ledger *ledger);
uint32_t ledger_columns(const struct ledger *ledger); /* zones * MODE_COUNT + 1 */
static inline uint32_t ledger_column(uint32_t zone, enum energy_mode mode)
{
	return zone * MODE_COUNT + (uint32_t)mode;
}
uint32_t ledger_cpu_column(const struct ledger *ledger);

/* Starts an interval: all deltas are 0, nothing is touched. */
void ledger_begin(struct ledger *ledger, uint64_t now_ns);
/*
 * Row of the owner, made when new. Never fails: at the limit or without memory it is "other" or row
 * 0. With other names than last time the row gets what is new, and with other labels of
 * its series a new row begins (or an old one with just these, if kept, goes on), unless the row is
 * waiting, which has no series. A row that has waited does not wait again.
 */
uint32_t ledger_container(struct ledger *ledger, const struct ledger_owner *owner);
/*
 * The living row of the process with just these labels, made when new; a row of the same pid and
 * start with other labels is ended, an ended one with these labels lives again. LEDGER_NONE at the
 * limit, without memory (both counted) or for pid 0, the idle task, which is no process: charge
 * such work with ledger_charge_container().
 */
uint32_t ledger_process(struct ledger *ledger, uint32_t pid, uint64_t start_ns, const char *comm,
			uint32_t container);
/* The living row of (pid, start), or LEDGER_NONE. */
uint32_t ledger_find_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns);
void ledger_end_process(struct ledger *ledger, uint32_t process);
/* What is known of a container in which no process has a row: whether its cgroup is there. */
void ledger_set_there(struct ledger *ledger, uint32_t container, bool is_there);
/* Adds to a column of the process and of its container. */
void ledger_charge(struct ledger *ledger, uint32_t process, uint32_t column, uint64_t amount);
/* Adds to a column of a container only: work whose process is not known by name. */
void ledger_charge_container(struct ledger *ledger, uint32_t container, uint32_t column,
			     uint64_t amount);
/* The node's own counters. */
void ledger_node(struct ledger *ledger, uint32_t zone, enum energy_mode mode, uint64_t amount_uj);
void ledger_unattributed(struct ledger *ledger, uint32_t zone, enum energy_mode mode,
			 enum unattributed_reason reason, uint64_t amount_uj);
void ledger_node_cpu(struct ledger *ledger, uint64_t busy_ns);

/*
 * Ends the charges of an interval: books them to the groups; a row that waited LEDGER_WAIT_NS waits
 * no longer. The publisher and ledger_begin() call it; once more does nothing.
 */
#define LEDGER_WAIT_NS (60 * 1000000000ULL)
void ledger_close(struct ledger *ledger);

/*
 * Reading. Pointers are valid until the next call that may make a row. Rows are 0..slots-1, with
 * holes.
 */
uint32_t ledger_process_slots(const struct ledger *ledger);
const struct ledger_process *ledger_process_at(const struct ledger *ledger, uint32_t process);
/* [columns], cumulative. */
const uint64_t *ledger_process_values(const struct ledger *ledger, uint32_t process);
/* [columns], of this interval; NULL unless touched. */
const uint64_t *ledger_process_deltas(const struct ledger *ledger, uint32_t process);
uint32_t ledger_container_slots(const struct ledger *ledger);
const struct ledger_container *ledger_container_at(const struct ledger *ledger, uint32_t container);
const uint64_t *ledger_container_values(const struct ledger *ledger, uint32_t container);
/* [columns], of this interval, zeros unless touched. */
const uint64_t *ledger_container_deltas(const struct ledger *ledger, uint32_t container);
/*
 * Rows that were charged, made or ended in this interval, each once; one released since is not
 * `used`.
 */
const uint32_t *ledger_touched_processes(const struct ledger *ledger, size_t *ret_count);
/* How many containers wait for their names. */
uint32_t ledger_waiting_containers(const struct ledger *ledger);
/* Processes for which there was no row in this interval. */
uint32_t ledger_refused_processes(const struct ledger *ledger);
/*
 * Owners for which there was no room in this interval; counted up to LEDGER_REFUSED_MAX, each once.
 */
#define LEDGER_REFUSED_MAX 64U
uint32_t ledger_refused_containers(const struct ledger *ledger);
uint32_t ledger_group_slots(const struct ledger *ledger, enum ledger_group group);
const struct ledger_group_row *ledger_group_at(const struct ledger *ledger, enum ledger_group group,
					       uint32_t row);
/* [columns], cumulative; of this interval, zeros unless touched. As of ledger_close(). */
const uint64_t *ledger_group_values(const struct ledger *ledger, enum ledger_group group,
				    uint32_t row);
const uint64_t *ledger_group_deltas(const struct ledger *ledger, enum ledger_group group,
				    uint32_t row);
uint64_t ledger_group_overflows(const struct ledger *ledger, enum ledger_group group);
/* More than 7/8 of the rows are in use: time to let those go that are kept only to be seen. */
bool ledger_processes_crowded(const struct ledger *ledger);
bool ledger_containers_crowded(const struct ledger *ledger);
bool ledger_group_crowded(const struct ledger *ledger, enum ledger_group group);
uint64_t ledger_node_value(const struct ledger *ledger, uint32_t zone, enum energy_mode mode);
uint64_t ledger_node_delta(const struct ledger *ledger, uint32_t zone, enum energy_mode mode);
uint64_t ledger_unattributed_value(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode, enum unattributed_reason reason);
uint64_t ledger_node_cpu_value(const struct ledger *ledger);
uint64_t ledger_process_overflows(const struct ledger *ledger);
uint64_t ledger_container_overflows(const struct ledger *ledger);

/* Frees a row's slot. The process must have ended; its share of the container's total stays. */
void ledger_release_process(struct ledger *ledger, uint32_t process);
/*
 * Frees a container that has no process rows left (processes == 0), with its values; never row 0.
 */
void ledger_release_container(struct ledger *ledger, uint32_t container);
/* Frees a group without containers (owners == 0), with its values; never row 0, "other". */
void ledger_release_group(struct ledger *ledger, enum ledger_group group, uint32_t row);
