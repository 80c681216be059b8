/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One immutable picture of the ledger that every reader shares: what is in it is what the outside
 * sees, no more, no less.
 *
 * The publisher (publisher.h) builds one per interval and swaps it in; scrapes take a reference,
 * read it without any lock, and drop it. All publication rules (admission, settling, keeping,
 * retiring) are already applied: a reader just prints. So in each snapshot, for each account (of
 * one or several zones: attribution/layout.h) and mode, with values in µJ and the node's and what
 * is unattributed summed over the account's zones:
 *
 *     process:   Σ rows + Σ retired + pending + Σ unattributed[reason] = node
 *     container: Σ rows + Σ retired + pending + Σ unattributed[reason] = node
 *     namespace: Σ rows + Σ retired + pending + Σ unattributed[reason] = node
 *     pod, VM:   Σ rows + Σ retired + pending = what owners with a pod (that are a VM) used
 *
 * The same holds for each other column, with one unattributed part.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/learning/idle.h"
#include "attribution/ledger.h"
#include "attribution/share_rule.h"
#include "attribution/unit_accounts.h"
#include "base/health.h"
#include "energy/total.h"
#include "energy/zone.h"
#include "snapshot/power_picture.h"

/*
 * The labels of one row. Immutable, alive as long as any snapshot that names it. @slot is dense and
 * reused, @serial never is: an exporter may keep what it rendered of a row in an array by slot and
 * check the serial. Names are clean, not escaped (energy/owner_names.h).
 *
 * Process level: @names belong to the container or, in a retired row whose container is gone, to
 * its namespace. A process has its pid and command; the "other" series has pid 0 and "other"; a
 * retired row has pid 0 and "".
 *
 * Elsewhere pid is 0 and command "". A retired row of a container or pod has only its namespace;
 * struct ledger_group says what names a group. The overflow group of pods is the pod_name
 * "other", of VMs the vm_name "other", of namespaces "". VMs and namespaces have one retired row,
 * without a name.
 */
struct series_labels {
	uint32_t slot;
	uint32_t pid;
	uint64_t serial;
	char command[LEDGER_COMM_MAX];
	const struct owner_names *names; /* never NULL */
	const struct owner_names *facts; /* of a pod, as known now; else, and before, NULL */
};

struct snapshot_row {
	const struct series_labels *labels;
	int64_t created_ms; /* realtime of birth, for _created */
	bool ended;
};

/* The rows of one level; values and deltas are [count][columns] in one piece. */
struct snapshot_table {
	size_t count;
	const struct snapshot_row *rows;
	const uint64_t *values; /* cumulative; 0 while a row settles */
	const uint64_t *deltas; /* of the last interval, never held back: for watts */
	size_t retired_count;
	const struct snapshot_row *retired;
	const uint64_t *retired_values; /* [retired_count][columns] */
	const uint64_t *pending;        /* [columns] */
	uint64_t merged;                /* rows that went early because of a limit, so far */
};

#define SNAPSHOT_MODEL_TEXT 96
#define SNAPSHOT_MODELS     8 /* five of files, and those that are built in */

/* The model behind a zone that is estimated; "" unknown. It may be another one in the next. */
struct snapshot_model {
	char name[SNAPSHOT_MODEL_TEXT], output[16];
	char features[SNAPSHOT_MODEL_TEXT], machine[SNAPSHOT_MODEL_TEXT];
};

struct snapshot_zone {
	struct zone zone;
	enum zone_state state;
	enum zone_caveat caveat;
	enum share_rule rule; /* by which its dynamic energy is shared */
	enum idle_state idle_state;
	bool ended;     /* another source has taken over: its counters stand still for good */
	bool has_begun; /* energy of it has been counted */
	/*
	 * The total of rows and the node that it is part of, or TOTAL_NONE (energy/total.h). All
	 * zones of an account have the same.
	 */
	uint32_t total;
	bool has_mode[MODE_COUNT];       /* the node has a series of this mode */
	bool rows_have_mode[MODE_COUNT]; /* so have processes and containers */
	uint64_t node_uj[MODE_COUNT];
	uint64_t unattributed_uj[MODE_COUNT][UNATTRIBUTED_REASON_COUNT];
	double watts[MODE_COUNT]; /* mean of the last interval; NaN while it is not known */
	/* Time that its energy of the last interval took, more after a gap. 0: none is known. */
	uint64_t span_ns;
	double idle_estimate_w;   /* NaN when there is none */
	double deviation_ratio;   /* from the source that is charged instead; NaN: not known */
	double coverage_ratio;    /* of a whole, over its parts; NaN: not known */
	double share_error_ratio; /* of the power by its shares; NaN: not known, as in the next */
	double share_half_width;  /* of the 90 % interval of its largest share */
	double smt_factor;        /* that its meter shows */
	uint32_t model;           /* of the program's models, from 1 on; 0: none */
	uint64_t model_changes;   /* times that another one took its place */
	double model_error_w;     /* half-width of its 90 % interval; NaN: not known */
	double model_outside;     /* 1: the node does what the model has not seen; NaN: not known */
	double delay_s; /* of a source that is late, or gives means; else NaN, as window_s */
	double window_s;
	uint64_t reads, errors, dropped, wraps;
	double age_s; /* of the last good reading */
	int64_t created_ms;
};

/* An account has one counter per row: one zone, or all of a kind that one source counts. */
struct snapshot_account {
	uint32_t first_zone;         /* the others have its kind, source and quality */
	uint32_t column[MODE_COUNT]; /* of rows; COLUMN_NONE without rows_have_mode */
	bool rows_have_mode[MODE_COUNT];
	uint64_t span_ns; /* time that the rows' deltas took; 0: no power is known */
	uint64_t mode_span_ns[MODE_COUNT]; /* the same for the energy of one mode */
	bool lacks_power;                  /* none is known, though a zone of it draws some */
};

/* A column of rows and, unless it is energy, the node's sum of it. */
struct snapshot_column {
	struct column of;
	uint64_t node, unattributed;
};

/* A logical CPU; of one that is not known the number is SNAPSHOT_CPU_UNKNOWN. */
#define SNAPSHOT_CPU_UNKNOWN UINT32_MAX
struct snapshot_cpu {
	uint32_t processor, package, core;
};

/* A unit of a pod's work (attribution/unit_accounts.h). */
struct snapshot_unit {
	const struct series_labels *labels; /* of the pod's row */
	char name[UNIT_NAME_MAX + 1];
	int64_t created_ms;     /* realtime of its first reading */
	uint64_t amount_micro;  /* millionths of a unit */
	const uint64_t *values; /* [columns]: energy of the same time */
};

/* The machine and the program that measures it: facts, and the last interval as a whole. */
struct snapshot_node {
	char version[32], revision[48], branch[32]; /* of the program */
	double start_time_s;                        /* of the program, realtime */
	char node_name[64], cpu_architecture[64], kernel[64];
	char cpu_vendor[32], cpu_model[64];
	uint32_t cpus;
	const struct snapshot_cpu *cpu_list; /* [cpu_list_count]; lives longer than snapshots */
	uint32_t cpu_list_count;
	char components_source[32], platform_source[32]; /* "" when absent */
	char activity_reader[16];
	double busy_ratio;        /* 0..1 of the last interval; NaN: not known */
	uint64_t elapsed_ns;      /* that the last pass over processes covers; 0: not known */
	uint64_t cpu_ns;          /* that rows used */
	double cpu_steal_seconds; /* vCPUs waited for the host; NaN: never */
	/* Estimates in a virtual machine; NaN or "" where nothing is estimated of one. */
	double vm_host_share_ratio;       /* of the host that this VM is assumed to have */
	char vm_host_cpus_source[16];     /* where the number of that host's CPUs is from */
	double vm_load_low, vm_load_high; /* that its neighbours may have */
	struct snapshot_model models[SNAPSHOT_MODELS];
};

struct snapshot {
	uint64_t sequence;     /* 1 for the first */
	uint64_t monotonic_ns; /* when it was published */
	int64_t realtime_ms;
	uint32_t columns;
	const struct snapshot_column *column; /* [columns] */
	uint32_t zone_count;
	const struct snapshot_zone *zones;
	bool by_zone; /* an account is one zone: rows tell the zones of a kind apart */
	uint32_t account_count;
	const struct snapshot_account *accounts;
	struct snapshot_table level[LEVEL_COUNT];
	const struct power_picture *power;
	double settle_s; /* how long a new series shows 0 */
	struct snapshot_node node;
	uint32_t unit_count;
	const struct snapshot_unit *units; /* of pods that level[LEVEL_POD] has */
	uint32_t health_count;
	const struct health_block *health; /* of the program's parts */
};

/*
 * The place where the newest snapshot stands. One writer, any number of readers on any thread. The
 * lock inside is held for the copy of a pointer, never while anything is built, rendered or freed.
 */
struct snapshot_holder;

int snapshot_holder_new(struct snapshot_holder **ret);
/*
 * 0, or -EBUSY: a thread that hangs (thread_join_within()) still has a snapshot. All that it can
 * read, the holder included, stays as it is, but snapshot_get() returns NULL. May be called again.
 */
int snapshot_holder_free(struct snapshot_holder *holder);
/* The newest snapshot with a reference of the caller's, or NULL before the first. Never waits. */
const struct snapshot *snapshot_get(struct snapshot_holder *holder);
/* Drops a reference; NULL is fine. */
void snapshot_put(struct snapshot_holder *holder, const struct snapshot *snapshot);
/*
 * Requests at @now_ns (CLOCK_MONOTONIC) all rows of the power_picture instead of the few shown at a
 * glance: the next snapshot and all snapshots of the following SNAPSHOT_WANTED_NS have them. From
 * any thread.
 */
#define SNAPSHOT_WANTED_NS (10 * 1000000000ULL)
void snapshot_want_rows(struct snapshot_holder *holder, uint64_t now_ns);
/* The same, with the users of processes. */
void snapshot_want_users(struct snapshot_holder *holder, uint64_t now_ns);
/*
 * Opens a descriptor for an exporter that pushes snapshots. It becomes readable when there is a
 * newer snapshot than at its last read. It is an eventfd, close-on-exec and nonblocking: read its 8
 * bytes, which are the number of snapshots since then, and then take the newest. Each waiting
 * exporter opens its own, at most SNAPSHOT_WAKES_MAX per holder. The holder owns the descriptor and
 * closes it when the holder is freed. From any thread. Returns the descriptor, or -errno: -ENOSPC
 * if there are too many. A new snapshot costs one system call per open descriptor.
 */
#define SNAPSHOT_WAKES_MAX 8
int snapshot_wake_open(struct snapshot_holder *holder);
/*
 * The same, but it becomes readable for the next snapshot after snapshot_wake_ask(@fd) only, and
 * costs nothing else: for readers that may be there or not. What asks looks for a newer snapshot
 * afterwards, so that none is missed.
 */
int snapshot_wake_open_asked(struct snapshot_holder *holder);
void snapshot_wake_ask(struct snapshot_holder *holder, int fd);
