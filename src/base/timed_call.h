/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that is executed with a deadline. A driver, a library, a mount or a file system in
 * user space can keep a call waiting for ever, so a process of its own executes it. A call that
 * hangs costs its caller the deadline once: until it returns, further calls fail at once.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define TIMED_CALL_LIMIT_MS 2000
#define TIMED_CALL_MAX      65536 /* bytes of a result */

struct timed_call;

/*
 * Executed in the process, once for each timed_call_make(): writes at most TIMED_CALL_MAX bytes to
 * @ret. Their number or -errno. @state is the process's copy, so what the function keeps there is
 * there the next time. No descriptor of the caller is open.
 */
typedef ssize_t timed_call_fn(void *state, void *ret);

/* Starts the process. The caller may change or free @state at once. 0 or -errno. */
int timed_call_new(timed_call_fn *call, void *state, struct timed_call **ret);
/*
 * The length of the result in @buf, or the function's -errno. -ETIMEDOUT: it takes longer than
 * TIMED_CALL_LIMIT_MS, or the call before still hangs; -EFBIG: the result is longer than @size;
 * -EINTR: a signal came meanwhile; -EPIPE: the process has ended. A result that comes after its
 * deadline is discarded.
 */
ssize_t timed_call_make(struct timed_call *timed, void *buf, size_t size);
/* The reason, in words, why a call failed with @r. */
const char *timed_call_error(int r);
/* Takes NULL. A call that hangs is left to its process. */
void timed_call_free(struct timed_call *timed);
/* A single call. */
ssize_t timed_call_once(timed_call_fn *call, void *state, void *buf, size_t size);
