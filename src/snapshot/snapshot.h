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
 * and for each counter of work likewise, with one unattributed part.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/idle.h"
#include "attribution/ledger.h"
#include "attribution/share_rule.h"
#include "energy/total.h"
#include "energy/zone.h"
#include "snapshot/power_picture.h"

const char *snapshot_level_name(enum level level); /* "process", "container", … */

/*
 * The labels of one row. Immutable, alive as long as any snapshot that names it. @slot is dense and
 * reused, @serial never is: an exporter may keep what it rendered of a row in an array by slot and
 * check the serial. Names are clean, not escaped (energy/owner_names.h).
 *
 * Process level: @names are those of the container (of a retired row whose container is gone: of
 * its namespace). A process has its pid and command; the "other" series has pid 0 and "other"; a
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
	uint64_t overflows;             /* pods, VMs, namespaces that found no room in the ledger */
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
	double share_error_ratio; /* of the power that its shares say; NaN: not known, likewise: */
	double share_half_width;  /* of the 90 % interval of its largest share */
	double smt_factor;        /* that its meter shows */
	uint32_t model;           /* of the program's models, from 1 on; 0: none */
	uint64_t model_changes;   /* times that another one took its place */
	double model_error_w;     /* half-width of its 90 % interval; NaN: not known */
	double model_outside;     /* 1: the node does what the model has not seen; NaN: not known */
	double delay_s; /* of a source that is late, or gives means; else NaN, likewise: */
	double window_s;
	uint64_t reads, errors, dropped, wraps;
	double age_s; /* of the last good reading */
	int64_t created_ms;
};

/* What rows have a counter of: one zone, or all of a kind that one source counts. */
struct snapshot_account {
	uint32_t first_zone;         /* the others have its kind, source and quality */
	uint32_t column[MODE_COUNT]; /* of rows; COLUMN_NONE without rows_have_mode */
	bool rows_have_mode[MODE_COUNT];
	uint64_t span_ns; /* time that the rows' deltas took; 0: no power is known */
	bool lacks_power; /* none is known, though a zone of it draws some */
};

/* A counter of work that rows have, and the node's sum of it (attribution/counters.h). */
struct snapshot_counter {
	enum signal signal;
	uint32_t column; /* of rows */
	uint64_t node, unattributed;
};

#define SNAPSHOT_HISTOGRAM_BUCKETS 12
#define SNAPSHOT_STEP_BUCKETS      5
#define SNAPSHOT_STEPS             8
#define SNAPSHOT_NAME_SOURCES      2

#define SNAPSHOT_IDLE_STATES       12

/* Idle state of CPUs, and the time that all of them were in it. */
struct snapshot_idle_state {
	char name[16]; /* "C6" */
	double seconds;
};

/* A source of containers' names. */
struct snapshot_name_source {
	char source[16]; /* "kubernetes", "runtimes"; "" not configured */
	char via[64];    /* "kubelet", "apiserver"; "docker podman"; "" while none answers */
	bool up;
	uint64_t requests, failures, bad, labels_lost, containers;
	double age_s; /* since it last said something; NaN before */
};

/* The kubelet's word on which containers hold devices; counters of ids are of the last interval. */
struct snapshot_pod_resources {
	bool is_asked;
	bool up;
	uint64_t requests, failures, bad;
	uint64_t held, nameless, unknown, beyond;
};

/* Of --model.url. */
struct snapshot_model_fetch {
	bool is_wanted;
	bool up, is_newer;
	uint64_t requests, failures, refused;
	double age_s; /* since its last good answer; NaN before */
};

/* Of --model.file. */
struct snapshot_model_files {
	bool is_wanted;
	bool up;                 /* each is used as it is on the disk, or another one was chosen */
	uint64_t taken, refused; /* that changed while the program ran */
};

/* Of --record.dir. */
struct snapshot_recording {
	bool is_on;
	uint64_t intervals, lost, errors, bytes;
};

/* How long one step of the loop takes. */
struct snapshot_step {
	const char *name;                              /* static */
	uint64_t bucket_counts[SNAPSHOT_STEP_BUCKETS]; /* not cumulative */
	uint64_t count;
	double sum_s;
};

/* A logical CPU; of one that is not known the number is SNAPSHOT_CPU_UNKNOWN. */
#define SNAPSHOT_CPU_UNKNOWN UINT32_MAX
struct snapshot_cpu {
	uint32_t processor, package, core;
};

/* What Kepler itself costs and how its parts are; filled by the program. */
struct snapshot_self {
	char version[32], revision[48], branch[32];
	char node_name[64], cpu_architecture[64], kernel[64];
	char components_source[32], platform_source[32]; /* "" when absent */
	double cpu_seconds;
	uint64_t wakeups; /* of all threads, also those that have ended */
	uint64_t rss_bytes, max_rss_bytes, open_fds, threads;
	double start_time_s; /* realtime */
	double interval_s;   /* configured */
	double interval_buckets_le[SNAPSHOT_HISTOGRAM_BUCKETS];
	uint64_t interval_bucket_counts[SNAPSHOT_HISTOGRAM_BUCKETS]; /* not cumulative */
	uint64_t interval_count;
	double interval_sum_s;
	uint64_t intervals_missed;
	uint64_t max_series;     /* of rows, in one response: --metrics.max-series */
	double settle_s;         /* how long a series that is born shows 0 */
	uint64_t scrape_clients; /* the clients that determine it */
	uint64_t scrape_clients_forgotten;
	double step_buckets_le[SNAPSHOT_STEP_BUCKETS];
	struct snapshot_step steps[SNAPSHOT_STEPS];
	char activity_reader[16];
	uint64_t activity_drops, activity_errors, tasks_walked, tasks_sent, threads_known;
	uint64_t cgroups_missed;
	uint64_t unseen_processes; /* that /proc shows and no pass does */
	uint64_t bpf_programs_refused;
	uint64_t io_dropped; /* times that a cgroup found no room for what it causes */
	uint64_t softirqs_without_cause;
	double softirq_seconds_without_cause;
	uint64_t switches_counted; /* 1: each context switch is looked at */
	uint64_t counters;         /* events of the processor that are counted */
	uint64_t counters_uncounted_cpus;
	uint64_t threads_without_work;      /* no memory in the kernel for what they do */
	double work_lost_seconds;           /* counted run time that no process got */
	uint64_t own_pid_namespace;         /* 1 or 0 */
	uint64_t process_reads_outstanding; /* of files in /proc that can hang */
	uint64_t process_reads_late;
	uint64_t machine_overflows; /* times that a possible virtual machine found no room */
	double unseen_cpu_seconds;
	double unseen_work_seconds; /* that the machine counts and no sample tells of */
	uint64_t activity_partial;  /* 1: processes are hidden from the reader */
	uint64_t machine_time_up; /* 1: the machine's own account of CPU time is there, and moves */
	uint64_t zones_left_out;  /* found, and not read */
	uint64_t zones_silent;    /* found and read, without one value so far */
	uint64_t device_files_unread; /* open device files beyond the limits */
	uint64_t packages_exceeded;   /* by core and uncore, over the last minute */
	uint64_t meters_searching;    /* 1 while the first search has not come to its end */
	double bpf_seconds;           /* of cpu_seconds, inside the kernel program */
	uint64_t process_overflows, container_overflows;
	uint64_t reloads, reload_failures;
	uint64_t reloads_merged; /* asked for while another was under way, which answered both */
	bool last_reload_ok;
	uint64_t state_write_errors;
	uint64_t landlock_abi; /* the version in force; 0: none */
	uint64_t denied_calls; /* system calls that the filter answered */
	uint64_t log_lost_lines;
	struct snapshot_name_source names[SNAPSHOT_NAME_SOURCES];
	uint64_t names_found, names_unknown, names_refused;
	struct snapshot_pod_resources pod_resources;
	struct snapshot_model_fetch model_fetch;
	struct snapshot_model_files model_files;
	struct snapshot_model models[SNAPSHOT_MODELS];
	struct snapshot_recording recording;
	double node_busy_ratio; /* 0..1 of the last interval */
	uint64_t elapsed_ns;    /* that the last pass over processes covers; 0: not known */
	uint64_t node_cpu_ns;
	double node_cpu_steal_seconds;    /* vCPUs waited for the host; NaN: never */
	double vm_host_share_ratio;       /* of the host that this VM is taken to be; NaN: none */
	char vm_host_cpus_source[16];     /* where the number of that host's CPUs is from */
	double vm_load_low, vm_load_high; /* that its neighbours may have; likewise */
	uint32_t cpus;
	char cpu_vendor[32], cpu_model[64];
	struct snapshot_idle_state idle_states[SNAPSHOT_IDLE_STATES];
	uint32_t idle_state_count;
	const struct snapshot_cpu *cpu_list; /* [cpu_list_count], longer there than snapshots */
	uint32_t cpu_list_count;
};

struct snapshot {
	uint64_t sequence;     /* 1 for the first */
	uint64_t monotonic_ns; /* when it was published */
	int64_t realtime_ms;
	uint32_t columns; /* ledger_columns() */
	uint32_t zone_count;
	const struct snapshot_zone *zones;
	bool by_zone; /* an account is one zone: rows tell the zones of a kind apart */
	uint32_t account_count;
	const struct snapshot_account *accounts;
	uint32_t counter_count;
	struct snapshot_counter counters[SIGNAL_COUNT]; /* of the signals that are counted */
	struct snapshot_table level[LEVEL_COUNT];
	const struct power_picture *power;
	struct snapshot_self self;
};

/*
 * The place where the newest snapshot stands. One writer, any number of readers on any thread. The
 * lock inside is held for the copy of a pointer, never while anything is built, rendered or freed.
 */
struct snapshot_holder;

int snapshot_holder_new(struct snapshot_holder **ret);
void snapshot_holder_free(struct snapshot_holder *holder);
/* The newest snapshot with a reference of the caller's, or NULL before the first. Never waits. */
const struct snapshot *snapshot_get(struct snapshot_holder *holder);
/* Drops a reference; NULL is fine. */
void snapshot_put(struct snapshot_holder *holder, const struct snapshot *snapshot);
/*
 * For what pushes snapshots on: a descriptor that is readable once a snapshot newer than those at
 * its last read is the newest. It is an eventfd, close-on-exec and nonblocking: read its 8 bytes,
 * which say how many there were since, and then take the newest. Each that waits has one of its
 * own, at most SNAPSHOT_WAKES_MAX of a holder. It is the holder's, which closes it when it is
 * freed. From any thread; the descriptor, or -errno: -ENOSPC where there are too many. Where none
 * was opened a new snapshot costs no system call, else one for each.
 */
#define SNAPSHOT_WAKES_MAX 8
int snapshot_wake_open(struct snapshot_holder *holder);
