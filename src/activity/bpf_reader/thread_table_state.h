/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a thread table and their state, for its own files only: thread_rows.c finds, adds and
 * removes rows, thread_ends.c books what has ended, thread_swept.c remembers what may end late,
 * thread_work.c adds up what the context switches have shown, thread_table.c makes passes of it.
 */
#pragma once

#include "activity/bpf_reader/thread_table.h"
#include "base/map.h"
#include "base/num.h"

#define WORK_SIGNALS (SIGNAL_CACHE_MISSES + 1) /* the first ones, which switches show */

#define HELD_PASSES  3 /* a lost end's row is gone two passes after the loss is known */
#define LATE_NS      (60 * NSEC_PER_SEC) /* an end comes no later: lazy callbacks wait 10 s */
#define FORK_NS      NSEC_PER_SEC        /* between a start and a place in the list of tasks */

struct thread_row {
	uint64_t task;
	uint64_t run_ns;      /* reported so far */
	uint64_t exit_run_ns; /* from its exit: charged if its end does not come; 0: no more */
	uint32_t tid;
	uint32_t process; /* index, MAP_NONE: the row is free */
	uint32_t seen;    /* number of the last full pass that had it */
	uint32_t missed;  /* full passes in a row without it; in a free row: the next free one */
};

struct process_row {
	struct process_key key, parent;
	uint64_t cgroup_id;
	uint64_t cgroup_set;
	uint64_t pending_ns;     /* for the next sample */
	uint64_t pending_cycles; /* for the next sample, too, by frequency */
	uint64_t leader_task;    /* 0: not seen yet */
	uint32_t threads;        /* rows */
	uint32_t cpu;
	uint32_t flags;
	uint32_t next_free; /* in a free row */
	uint32_t user;      /* with ACTIVITY_USER */
	bool used;
	bool active; /* in the list of the next samples */
	char comm[COMM_MAX];
};

/* An end to wait for. */
struct awaited_end {
	uint64_t task;
	uint64_t exit_ns; /* of the first pass after it, set at that pass's end */
	uint32_t pass;    /* which that is */
	uint32_t tid;
	uint32_t cpu; /* where it exited */
};

/* A swept row: its end may still come. */
struct swept_thread {
	uint64_t task;     /* 0: the row is free */
	uint64_t run_ns;   /* reported so far */
	uint64_t swept_ns; /* clock of the passes */
	struct process_key key;
	uint32_t tid;
	uint32_t next_free; /* in a free row */
	bool as_lost;       /* its reported time went into the account of lost ends */
};

/*
 * Known run time that will come with ends, and the number of threads that lack up to a tick of it.
 */
struct coming_time {
	uint64_t threads, run_ns;
};

struct thread_swept {
	struct map map;
	struct swept_thread *rows;
	uint32_t size, high, free;
	uint64_t expire_ns; /* no row expires before */
};

struct thread_table {
	struct map thread_map;
	struct map process_map;
	struct thread_row *threads;
	struct process_row *processes;
	uint32_t threads_size, threads_high, threads_free;
	uint32_t processes_size, processes_high, processes_free;

	const struct cpu_sockets *sockets; /* NULL: not distinguished */
	uint32_t places;                   /* of sockets, as of this pass; 0: not distinguished */
	uint64_t *pending_socket_ns;       /* [processes][places], of pending_ns */
	uint64_t *sample_socket_ns;        /* [samples][places] */
	uint32_t pending_cells, sample_cells;

	const struct cpu_frequencies *frequencies; /* NULL: not known */

	uint32_t signals;          /* of samples; 0: work is not counted */
	uint64_t *pending_signals; /* [processes][WORK_SIGNALS] */
	uint64_t *sample_signals;  /* [WORK_SIGNALS][samples] */
	uint32_t pending_signal_cells, sample_signal_cells;
	uint64_t work_lost_ns;

	uint32_t *active; /* as long as processes */
	uint32_t active_count;
	struct activity_sample *samples;
	uint32_t samples_size;
	struct dropped_cgroup lost[KEPLER_DROPS_MAX];
	uint32_t lost_count;
	bool lost_reported; /* by the last finish: the next begin empties the list */

	struct awaited_end *awaited; /* oldest first */
	uint32_t awaited_count, awaited_size;

	struct thread_swept swept;

	uint64_t now_ns;                  /* of the last pass */
	uint64_t full_ns, before_full_ns; /* of the last full pass, and the one before it */
	uint32_t passes;
	uint32_t full_passes;
	uint32_t last_full; /* pass */
	uint32_t last_lost; /* the last pass that knew of lost ends */
	bool full;
	bool sees_part;     /* passes do not have every process */
	bool overdue;       /* an end did not come: a full pass shows whether it is a zombie */
	uint32_t missing;   /* rows with missed > 0 */
	int64_t balance_ns; /* run time without a process, goes to dropped_ns once it is positive */
	uint64_t overflows;
	uint64_t untracked_ns,
		untracked_next_ns; /* sum over threads without a row: last pass, this one */
	bool untracked, untracked_next;
	uint64_t old_lost; /* rows that may yet turn out to be those of lost ends */
	uint64_t held_ns[HELD_PASSES];
	struct coming_time coming;        /* of rows that have exited */
	struct coming_time unreported[2]; /* of unreported exits: these seconds, and before */
	uint64_t unreported_since_ns;
};

/* ---- thread_rows.c ---- */

struct map_key thread_rows_key(uint64_t task, uint32_t tid);
/* Indices below are MAP_NONE for "none" or "no room". */
uint32_t thread_rows_find_process(const struct thread_table *table,
				  const struct kepler_thread *record);
uint32_t thread_rows_add_process(struct thread_table *table, const struct kepler_thread *record);
void thread_rows_remove_process(struct thread_table *table, uint32_t index);
/* Takes facts about the process from @record. */
void thread_rows_describe_process(struct process_row *process, const struct kepler_thread *record);
/* The row of @record's thread, also under an earlier tid; forgets a stale one in its place. */
uint32_t thread_rows_find_thread(struct thread_table *table, const struct kepler_thread *record);
/* Begins to load what that reads; see map_prefetch(). */
void thread_rows_prefetch(const struct thread_table *table, const struct kepler_thread *record);
uint32_t thread_rows_add_thread(struct thread_table *table, uint32_t process,
				const struct kepler_thread *record);
void thread_rows_remove_thread(struct thread_table *table, uint32_t index);
/* Sets the reported time of a row's thread, and the time of its exit. */
void thread_rows_set_run(struct thread_table *table, uint32_t index, uint64_t run_ns,
			 uint64_t exit_run_ns);
/* Returns true if a row that is swept now counts as the row of a lost end. */
bool thread_rows_is_lost(const struct thread_table *table, const struct thread_row *thread);
/* Removes a row without an end to come. */
void thread_rows_forget_thread(struct thread_table *table, uint32_t index);
/* A process gets a sample in this pass even if it ran nothing. */
void thread_rows_activate(struct thread_table *table, uint32_t index);
/* Takes over the number of sockets, at the begin of a pass. */
void thread_rows_follow_sockets(struct thread_table *table);
/*
 * Adds run time to the next sample of a process. The switches, if they have shown the thread's
 * @work, know the sockets in which it ran; else it ran on @cpu.
 */
void thread_rows_charge(struct thread_table *table, uint32_t index, uint64_t run_ns, uint32_t cpu,
			const struct kepler_work *work);

/* ---- thread_work.c ---- */

/* Room for one process more than there are rows. */
bool thread_work_reserve(struct thread_table *table);
/*
 * Adds @work, which may be NULL, to the next sample of a process. Whether there is something that
 * a sample is needed for.
 */
bool thread_work_charge(struct thread_table *table, uint32_t index, const struct kepler_work *work);
/* It belongs to no process. */
void thread_work_lose(struct thread_table *table, const struct kepler_work *work);
/*
 * Divides @run_ns among the sockets in which @work was counted, and adds each part to @pending_ns,
 * which has a place for each. False where it was counted in none.
 */
bool thread_work_spread(const struct kepler_work *work, uint32_t places, uint64_t run_ns,
			uint64_t *pending_ns);
/* Room for the signals of @count samples; 0 or -ENOMEM. */
int thread_work_begin_samples(struct thread_table *table, uint32_t count,
			      struct activity *activity);
/* Moves the pending amounts of a process into its sample. */
void thread_work_take(struct thread_table *table, uint32_t index, uint32_t sample);
void thread_work_release(struct thread_table *table);

/* ---- thread_swept.c ---- */

/* At most @limit rows. */
void thread_swept_init(struct thread_swept *swept, uint32_t limit);
void thread_swept_release(struct thread_swept *swept);
/* Remembers a row that is about to be removed; without room that is counted in `overflows`. */
void thread_swept_keep(struct thread_table *table, const struct thread_row *thread);
/* True if @record is of a swept thread, and its reported time; the thread is then forgotten. */
bool thread_swept_take(struct thread_table *table, const struct kepler_thread *record,
		       uint64_t *ret_reported_ns);
void thread_swept_expire(struct thread_table *table);

/* ---- thread_lost.c ---- */

/*
 * At the end of a pass: reports the run time of lost ends in known cgroups, and adds it to busy_ns.
 */
void thread_table_tell_lost(struct thread_table *table, struct activity *activity);

/* ---- thread_ends.c ---- */

void thread_table_charge_overdue(struct thread_table *table);
/* At the end of a pass: sets coming_ns and coming_threads of @activity. */
void thread_table_tell_coming(struct thread_table *table, struct activity *activity);

/* Until the first pass is over nothing is charged. */
static inline bool thread_table_is_baseline(const struct thread_table *table)
{
	return table->passes == 0;
}
