/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of who used what: one row a process, one row a container, cumulative, in integers. Pure:
 * no clock, no I/O.
 *
 * A row has one value a column: column z * MODE_COUNT + m is the energy of zone z in mode m (µJ),
 * the last column is CPU time (ns). A process row is one set of labels: pid, start time, comm and
 * container; when any of them changes (exec, a move to another cgroup) the old row ends and a new
 * one begins, so that what was counted stays where it was. A process that goes back to labels whose
 * row is still kept goes on in that row. A container's values are the sum of all charges to its
 * processes, living and gone.
 *
 * The ledger also keeps the node's totals and what nobody got, so that in every interval, for every
 * zone z and mode m:
 *
 *     Σ rows delta[z][m] + Σ reasons unattributed delta[z][m] = node delta[z][m]
 *
 * Life of an interval: ledger_begin() –
 * ledger_container()/ledger_process()/ledger_charge()/ledger_node() – the publisher reads
 * `touched`. The publisher decides when an ended row may go: ledger_release_process(). An interval
 * costs in proportion to the rows that it touches. Values wrap at 2^64 µJ (584 years at 1 kW).
 *
 * Names are untrusted bytes; rows hold them as label_text() makes them, so that names that print
 * alike are one name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/attribute.h"

#define LEDGER_NONE      UINT32_MAX
#define LEDGER_COMM_MAX  16
#define LEDGER_LABEL_MAX 128

/*
 * Who owns a process; each string is cut to LEDGER_LABEL_MAX - 1 bytes, NULL is "". container_id is
 * the key: the other three are those that came with it first. An owner without an id is the
 * overflow owner.
 */
struct ledger_owner {
	const char *container_id;
	const char *container_name;
	const char *container_namespace;
	const char *pod_name;
};

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
	char container_id[LEDGER_LABEL_MAX];
	char container_name[LEDGER_LABEL_MAX];
	char container_namespace[LEDGER_LABEL_MAX];
	char pod_name[LEDGER_LABEL_MAX];
	uint32_t processes; /* rows that belong to it, ended ones that are still kept included */
	bool used;
	bool touched;
	uint64_t serial;
	uint64_t last_active_ns; /* `now` of the last interval with a charge or a new process */
};

struct ledger_options {
	/* Rows, ended ones that are kept included; beyond it charges go to the container only
	 * (the pid="" series), counted. */
	uint32_t max_processes;
	uint32_t max_containers;      /* beyond it a new owner is charged to `overflow`, counted */
	struct ledger_owner overflow; /* the owner that always fits, row 0: system_processes */
};

struct ledger;

int ledger_new(const struct ledger_options *options, struct ledger **ret);
void ledger_free(struct ledger *ledger);
/* Grows the number of zones (never shrinks). New columns are 0. 0 or -ENOMEM. */
int ledger_set_zones(struct ledger *ledger, uint32_t zones);
uint32_t ledger_zones(const struct ledger *ledger);
uint32_t ledger_columns(const struct ledger *ledger); /* zones * MODE_COUNT + 1 */
static inline uint32_t ledger_column(uint32_t zone, enum energy_mode mode)
{
	return zone * MODE_COUNT + (uint32_t)mode;
}
uint32_t ledger_cpu_column(const struct ledger *ledger);

/* Starts an interval: all deltas are 0, nothing is touched. */
void ledger_begin(struct ledger *ledger, uint64_t now_ns);
/* Row of the owner, made when new. Never fails: at the limit or without memory it is row 0. */
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
/* Part of a container's deltas that came by ledger_charge_container(). [columns] */
const uint64_t *ledger_container_direct_deltas(const struct ledger *ledger, uint32_t container);
/*
 * Rows that were charged, made or ended in this interval, each once; one released since is not
 * `used`.
 */
const uint32_t *ledger_touched_processes(const struct ledger *ledger, size_t *ret_count);
const uint32_t *ledger_touched_containers(const struct ledger *ledger, size_t *ret_count);
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
