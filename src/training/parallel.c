// SPDX-License-Identifier: Apache-2.0
#include "training/parallel.h"

#include <pthread.h>
#include <sched.h>

#include "base/thread.h"

struct work {
	pthread_mutex_t lock; /* guards next, failed and result */
	size_t count, next;
	size_t failed; /* the lowest index of a job that failed; count: none */
	int result;
	int (*job)(void *context, size_t index);
	void *context;
};

unsigned parallel_processors(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	if (count < 1)
		return 1;
	return count < PARALLEL_THREADS_MAX ? (unsigned)count : PARALLEL_THREADS_MAX;
}

/* The next job's index, or count. */
static size_t take_job(struct work *work)
{
	size_t index;

	(void)pthread_mutex_lock(&work->lock);
	index = work->failed < work->count ? work->count : work->next;
	work->next += index < work->count;
	(void)pthread_mutex_unlock(&work->lock);
	return index;
}

static void note_failure(struct work *work, size_t index, int result)
{
	(void)pthread_mutex_lock(&work->lock);
	if (index < work->failed) {
		work->failed = index;
		work->result = result;
	}
	(void)pthread_mutex_unlock(&work->lock);
}

static void *run_jobs(void *userdata)
{
	struct work *work = userdata;
	size_t index;

	while ((index = take_job(work)) < work->count) {
		int r = work->job(work->context, index);

		if (r < 0)
			note_failure(work, index, r);
	}
	return NULL;
}

int parallel_run(size_t count, unsigned threads, int (*job)(void *context, size_t index),
		 void *context)
{
	struct work work = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .count = count,
			     .failed = count,
			     .job = job,
			     .context = context };
	pthread_t others[PARALLEL_THREADS_MAX];
	unsigned started = 0;

	while (started + 1 < threads && started + 1 < count && started < PARALLEL_THREADS_MAX &&
	       thread_start(&others[started], 0, run_jobs, &work) == 0)
		started++;
	(void)run_jobs(&work);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(others[i], NULL);
	(void)pthread_mutex_destroy(&work.lock);
	return work.result;
}
