/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a thread with every signal blocked, since the process's signals are the main thread's, but
 * for SIGSYS. That one comes of the thread's own call (service/denied_calls.h), and the kernel ends
 * a process whose thread blocks it.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* @stack_bytes: 0 for the default. 0 or -errno. */
int thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *), void *userdata);
/* What is blocked. */
void thread_blocked_signals(sigset_t *ret);
