/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small pool of threads for jobs that may block for ever, such as reads that wait for another
 * process, a mount or a device. One thread, the owner, calls all functions here. None of them makes
 * it wait except offload_free(), which has a deadline, and the creation of the first thread, with
 * the first job. From then on one thread is always idle: before a thread runs a job it creates the
 * next idle one, if there is none; further idle threads end after ten seconds. All signals are
 * blocked in them.
 *
 * The caller embeds struct offload_job in a struct of its own. The caller owns a job until
 * offload_submit() has succeeded; then the pool owns it, until offload_take() returns it to the
 * caller. In between the caller may read those members that run() does not write, and writes none.
 * A job that is no longer needed is given up with offload_abandon(); after that only drop() sees
 * it. So run() and drop() may use the job's own data and, of the rest of the program, only what
 * lives as long as the process.
 *
 *	struct read_job { struct offload_job job; char path[64]; ssize_t len; char text[4096]; };
 *
 *	if (offload_submit(pool, &mine->job) < 0)
 *		read_job_free(mine);           busy: try again later
 *	...
 *	while ((job = offload_take(pool)))
 *		use((struct read_job *)job);   and free it
 *
 * A thread with a job that hangs is lost to the pool for as long as the job hangs: a caller that
 * lets other parties choose what is read limits how many jobs each of them may have under way.
 *
 * meter/reader.c does not use this: its caller waits for the results of one pass and needs one
 * thread for all zones, because these are read back to back; here each job is independent and its
 * caller never waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offload;

struct offload_job {
	/* Does the work, on a thread of the pool; may block. */
	void (*run)(struct offload_job *job);
	/*
	 * Frees the job, which was abandoned before it was taken. On any thread; must neither block
	 * nor call the pool.
	 */
	void (*drop)(struct offload_job *job);
	struct offload_job *next; /* the rest is the pool's */
	int state;
	bool abandoned;
};

struct offload_options {
	size_t max_threads;         /* >= 1; this many jobs may hang before the pool stands still */
	size_t max_waiting;         /* jobs that may wait while that many run */
	void (*start_thread)(void); /* first thing on each thread, to give up rights; or NULL */
};

struct offload_stats {
	size_t threads;
	size_t running; /* jobs on a thread, abandoned ones included */
	size_t waiting; /* jobs that no thread has begun */
};

/* 0, -ENOMEM, or -errno where the kernel gives no eventfd. */
int offload_new(const struct offload_options *options, struct offload **ret);
/*
 * Abandons all jobs, and waits at most @deadline_ns for those that run. A job that hangs is left to
 * its thread, which frees its data if it ever ends. Takes NULL.
 */
void offload_free(struct offload *offload, uint64_t deadline_ns);

/*
 * Hands @job over. -EBUSY: the limits on running and waiting jobs are reached; another -errno:
 * there is no thread and none can be created. On failure the caller keeps the job.
 */
int offload_submit(struct offload *offload, struct offload_job *job);
/* A job that has run and is not abandoned, now the caller's; NULL: none. No system call if none. */
struct offload_job *offload_take(struct offload *offload);
/*
 * Drops a submitted job that was not taken: at once, or when it ends if it runs. The caller must
 * not access it any more.
 */
void offload_abandon(struct offload *offload, struct offload_job *job);
/* Readable as long as there is something to take; only for poll(). */
int offload_fd(const struct offload *offload);
void offload_get_stats(struct offload *offload, struct offload_stats *ret);
