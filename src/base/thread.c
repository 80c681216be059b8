// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

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
