// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <time.h>

#include "base/clock.h"
#include "base/num.h"

void thread_blocked_signals(sigset_t *ret)
{
	(void)sigfillset(ret);
	(void)sigdelset(ret, SIGSYS);
}

int thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *), void *userdata)
{
	sigset_t blocked, before;
	pthread_attr_t attr;
	int r = pthread_attr_init(&attr);

	if (r)
		return -r;
	if (stack_bytes)
		(void)pthread_attr_setstacksize(&attr, stack_bytes);
	thread_blocked_signals(&blocked);
	(void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
	r = pthread_create(ret, &attr, main, userdata);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -r;
}

int thread_join_within(pthread_t thread, uint64_t patience_ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
	struct timespec end = { (time_t)(end_ns / NSEC_PER_SEC), (long)(end_ns % NSEC_PER_SEC) };

	return -pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end);
}
