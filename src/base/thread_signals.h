/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread of ours blocks before it starts: every signal, since the process's signals are the
 * main thread's, but for SIGSYS. That one comes of the thread's own call (service/denied_calls.h),
 * and the kernel ends a process whose thread blocks it.
 */
#pragma once

#include <signal.h>

static inline void thread_signals_blocked(sigset_t *ret)
{
	(void)sigfillset(ret);
	(void)sigdelset(ret, SIGSYS);
}
