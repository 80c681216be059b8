/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a thread with every signal except SIGSYS blocked, because the main thread handles the
 * process's signals. SIGSYS is caused by a call of the thread itself (service/denied_calls.h), and
 * the kernel ends the process if that thread blocks it.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* @stack_bytes: 0 for the default. 0 or -errno. */
int thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *), void *userdata);
/*
 * Joins it if it ends within @patience_ns. 0, or -ETIMEDOUT: it hangs, as on a mount that does not
 * respond, and keeps what it uses; the caller frees none of that.
 */
int thread_join_within(pthread_t thread, uint64_t patience_ns);
/* The signals that are blocked. */
void thread_blocked_signals(sigset_t *ret);
