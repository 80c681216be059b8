/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small pool of threads for jobs that may block for ever: reading what waits for another process,
 * a mount or a device. One thread, the owner, calls everything here, and nothing here makes it wait
 * but offload_free(), which has a deadline, and the making of the first thread, with the first job.
 * From then on one thread is always idle: before a thread runs a job it makes the next one, if that
 * is missing; those above one end after ten idle seconds. All signals are blocked in them.
 *
 * The caller embeds struct offload_job in a struct of its own. Until offload_submit() has succeeded
 * a job is the caller's; from then on the pool's; again the caller's when offload_take() returns
 * it. In between the caller may read of it what run() does not write, and touches nothing. A job
 * that is no longer wanted is given up by offload_abandon(), after which only drop() sees it. So
 * run() and drop() may use what is in the job, and of the rest of the program only what lives as
 * long as the process does.
 *
 *	struct read_job { struct offload_job job; char path[64]; ssize_t len; char text[4096]; };
 *
 *	if (offload_submit(pool, &mine->job) < 0)
 *		read_job_free(mine);           busy: try again later
 *	...
 *	while ((job = offload_take(pool)))
 *		use((struct read_job *)job);   and free it
 *
 * A thread whose job hangs is lost to the pool as long as that hangs: a caller that lets others
 * choose what is read bounds how many jobs each of them may have under way.
 *
 * meter/reader.c does not stand on this: its caller waits for the results of one pass and wants one
 * thread for all zones, as these are read one after the other, back to back; here each job stands
 * for itself and its caller never waits.
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
	size_t max_threads;         /* >= 1; so many jobs may hang before nothing goes on */
	size_t max_waiting;         /* jobs that wait while that many run */
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
 * Abandons all jobs, and waits at most @deadline_ns for those that run. One that hangs is left to
 * its thread, which frees what it still needs, if it ever ends. NULL is fine.
 */
void offload_free(struct offload *offload, uint64_t deadline_ns);

/*
 * Hands @job over. -EBUSY: as many run and wait as may; or -errno when there is no thread and none
 * can be made. Then the job stays the caller's.
 */
int offload_submit(struct offload *offload, struct offload_job *job);
/* A job that has run and is not abandoned, now the caller's; NULL: none. No system call if none. */
struct offload_job *offload_take(struct offload *offload);
/*
 * Drops a submitted job that was not taken: at once, or when it ends if it runs. It is no longer
 * the caller's to look at.
 */
void offload_abandon(struct offload *offload, struct offload_job *job);
/* Readable as long as there is something to take; only for poll(). */
int offload_fd(const struct offload *offload);
void offload_get_stats(struct offload *offload, struct offload_stats *ret);
