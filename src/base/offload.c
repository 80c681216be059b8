// SPDX-License-Identifier: Apache-2.0
/*
 * Two queues under one lock: jobs that wait, and jobs that are finished. A job that runs is in
 * neither; its thread checks `abandoned` when it ends. The pool lives until the owner and the last
 * thread have released it. A thread that ends is joined by the next one that ends, and the last one
 * by the owner, so that no thread is left when the owner continues, except threads that hang.
 */
#include "base/offload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "base/thread.h"

#define IDLE_NS    HOSTILE_OR(0, 10 * NSEC_PER_SEC) /* an idle thread ends after that */
#define STACK_SIZE (256UL << 10)

enum job_state {
	JOB_WAITING = 1,
	JOB_RUNNING,
	JOB_FINISHED,
};

struct queue {
	struct offload_job *first, **end;
	size_t count;
};

struct offload {
	struct offload_options options;
	int fd;                /* an eventfd, readable while `finished` is not empty */
	pthread_mutex_t lock;  /* all below */
	pthread_cond_t work;   /* a job waits, or closing */
	pthread_cond_t change; /* a thread ended; for the owner's last wait */
	struct queue waiting, finished;
	size_t threads, running; /* the rest are idle, or about to begin */
	pthread_t ended;         /* valid if has_ended: to be joined */
	bool has_ended;
	bool closing; /* no job begins any more, and results are dropped */
	bool gone;    /* the owner is; the last thread destroys */
};

/* ---- queues ---- */

static void queue_init(struct queue *queue)
{
	*queue = (struct queue){ .end = &queue->first };
}

static void queue_add(struct queue *queue, struct offload_job *job)
{
	job->next = NULL;
	*queue->end = job;
	queue->end = &job->next;
	queue->count++;
}

static struct offload_job *queue_take(struct queue *queue)
{
	struct offload_job *job = queue->first;

	if (!job)
		return NULL;
	queue->first = job->next;
	if (!queue->first)
		queue->end = &queue->first;
	queue->count--;
	return job;
}

static void queue_remove(struct queue *queue, struct offload_job *job)
{
	struct offload_job **link = &queue->first;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	if (!*link)
		queue->end = link;
	queue->count--;
}

static void queue_drop(struct queue *queue)
{
	struct offload_job *job;

	while ((job = queue_take(queue)))
		job->drop(job);
}

/* ---- threads ---- */

static void destroy(struct offload *offload)
{
	(void)pthread_cond_destroy(&offload->work);
	(void)pthread_cond_destroy(&offload->change);
	(void)pthread_mutex_destroy(&offload->lock);
	free(offload);
}

static void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t time_ns)
{
	struct timespec ts = { (time_t)(time_ns / NSEC_PER_SEC), (long)(time_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(cond, lock, &ts);
}

static size_t idle_threads(const struct offload *offload)
{
	return offload->threads - offload->running;
}

/* With the lock held. False: the thread has nothing to do any more. */
static bool wait_for_work(struct offload *offload)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + IDLE_NS;

	while (!offload->waiting.first && !offload->closing) {
		if (clock_ns(CLOCK_MONOTONIC) < end_ns)
			wait_until(&offload->work, &offload->lock, end_ns);
		else if (idle_threads(offload) > 1)
			return false;
		else
			(void)pthread_cond_wait(&offload->work, &offload->lock);
	}
	return !offload->closing;
}

static void *thread_main(void *arg);

/*
 * Called with the lock held, and returns with it held, but drops it while a thread is created.
 * clone() waits for any migration between cgroups that is under way, so a pool thread calls it,
 * ahead of need, and never the owner.
 */
static void provide_spare(struct offload *offload)
{
	pthread_t thread;
	int r;

	if (idle_threads(offload) > 0 || offload->threads == offload->options.max_threads)
		return;
	offload->threads++; /* at once, so that one is made only */
	pthread_mutex_unlock(&offload->lock);
	r = thread_start(&thread, STACK_SIZE, thread_main, offload);
	pthread_mutex_lock(&offload->lock);
	if (r < 0)
		offload->threads--;
}

/* Called with the lock held, and returns with it held, but drops it for the job. */
static void do_job(struct offload *offload, struct offload_job *job)
{
	job->state = JOB_RUNNING;
	offload->running++;
	provide_spare(offload);
	pthread_mutex_unlock(&offload->lock);
	job->run(job);
	pthread_mutex_lock(&offload->lock);
	offload->running--;
	if (job->abandoned || offload->closing) {
		pthread_mutex_unlock(&offload->lock);
		job->drop(job);
		pthread_mutex_lock(&offload->lock);
		return;
	}
	job->state = JOB_FINISHED;
	queue_add(&offload->finished, job);
	if (offload->finished.count == 1)
		(void)eventfd_write(offload->fd, 1); /* at most 1 is in it: cannot fail */
}

/* With the lock held. True: *ret has released the lock, and the caller has to join it. */
static bool take_ended(struct offload *offload, pthread_t *ret)
{
	bool taken = offload->has_ended;

	if (taken)
		*ret = offload->ended;
	offload->has_ended = false;
	return taken;
}

/* Called with the lock held, which it drops. */
static void end_thread(struct offload *offload)
{
	bool gone, last, has_before;
	pthread_t before;

	gone = offload->gone;
	has_before = take_ended(offload, &before);
	if (!gone) {
		offload->ended = pthread_self();
		offload->has_ended = true;
	}
	offload->threads--;
	last = gone && offload->threads == 0;
	pthread_cond_signal(&offload->change);
	pthread_mutex_unlock(&offload->lock);
	if (has_before)
		(void)pthread_join(before, NULL);
	if (gone)
		(void)pthread_detach(pthread_self());
	if (last)
		destroy(offload);
}

static void *thread_main(void *arg)
{
	struct offload *offload = arg;

	if (offload->options.start_thread)
		offload->options.start_thread();
	pthread_mutex_lock(&offload->lock);
	while (wait_for_work(offload))
		do_job(offload, queue_take(&offload->waiting));
	end_thread(offload);
	return NULL;
}

/* ---- the owner's side ---- */

/* With the lock held. Creates the first thread, and one that a pool thread could not create. */
static int provide_thread(struct offload *offload)
{
	pthread_t thread;
	int r = 0;

	if (idle_threads(offload) == 0 && offload->threads < offload->options.max_threads) {
		r = thread_start(&thread, STACK_SIZE, thread_main, offload);
		if (r == 0)
			offload->threads++;
	}
	return offload->threads > 0 ? 0 : r;
}

int offload_submit(struct offload *offload, struct offload_job *job)
{
	const struct offload_options *options = &offload->options;
	int r;

	pthread_mutex_lock(&offload->lock);
	if (offload->running + offload->waiting.count >=
	    options->max_threads + options->max_waiting)
		r = -EBUSY;
	else
		r = provide_thread(offload);
	if (r == 0) {
		job->state = JOB_WAITING;
		job->abandoned = false;
		queue_add(&offload->waiting, job);
	}
	pthread_mutex_unlock(&offload->lock);
	if (r == 0) /* without the lock, for which the thread would only wait again */
		pthread_cond_signal(&offload->work);
	return r;
}

struct offload_job *offload_take(struct offload *offload)
{
	struct offload_job *job;
	eventfd_t value;

	pthread_mutex_lock(&offload->lock);
	job = queue_take(&offload->finished);
	if (job && offload->finished.count == 0)
		(void)eventfd_read(offload->fd, &value);
	pthread_mutex_unlock(&offload->lock);
	return job;
}

/* With the lock held: takes @job out of its queue. False: it runs, and its thread drops it. */
static bool withdraw(struct offload *offload, struct offload_job *job)
{
	eventfd_t value;

	job->abandoned = true;
	if (job->state == JOB_RUNNING)
		return false;
	if (job->state == JOB_WAITING) {
		queue_remove(&offload->waiting, job);
		return true;
	}
	queue_remove(&offload->finished, job);
	if (offload->finished.count == 0)
		(void)eventfd_read(offload->fd, &value);
	return true;
}

void offload_abandon(struct offload *offload, struct offload_job *job)
{
	bool mine;

	pthread_mutex_lock(&offload->lock);
	mine = withdraw(offload, job);
	pthread_mutex_unlock(&offload->lock);
	if (mine)
		job->drop(job);
}

int offload_fd(const struct offload *offload)
{
	return offload->fd;
}

void offload_get_stats(struct offload *offload, struct offload_stats *ret)
{
	pthread_mutex_lock(&offload->lock);
	*ret = (struct offload_stats){
		.threads = offload->threads,
		.running = offload->running,
		.waiting = offload->waiting.count,
	};
	pthread_mutex_unlock(&offload->lock);
}

int offload_new(const struct offload_options *options, struct offload **ret)
{
	struct offload *offload = calloc(1, sizeof(*offload));
	pthread_condattr_t attr;

	if (!offload)
		return -ENOMEM;
	offload->options = *options;
	offload->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (offload->fd < 0) {
		int r = -errno;

		free(offload);
		return r;
	}
	queue_init(&offload->waiting);
	queue_init(&offload->finished);
	(void)pthread_mutex_init(&offload->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&offload->work, &attr);
	(void)pthread_cond_init(&offload->change, &attr);
	(void)pthread_condattr_destroy(&attr);
	*ret = offload;
	return 0;
}

void offload_free(struct offload *offload, uint64_t deadline_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + deadline_ns;
	bool last, has_ended;
	pthread_t ended;

	if (!offload)
		return;
	pthread_mutex_lock(&offload->lock);
	offload->closing = true;
	queue_drop(&offload->waiting);
	queue_drop(&offload->finished);
	pthread_cond_broadcast(&offload->work);
	while (offload->threads > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns)
		wait_until(&offload->change, &offload->lock, end_ns);
	offload->gone = true;
	last = offload->threads == 0;
	has_ended = take_ended(offload, &ended);
	(void)close(offload->fd);
	pthread_mutex_unlock(&offload->lock);
	if (has_ended)
		(void)pthread_join(ended, NULL);
	if (last)
		destroy(offload);
}
