/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that the filter (service/confine.h) denies: they are counted by number, and each is
 * logged once, by name.
 *
 * The filter sends the thread SIGSYS instead of making the call. The handler counts it and writes
 * what the call returns: -ENOSYS for a number beyond those that libseccomp knows, as an older
 * kernel would return, so that a newer libc uses its fallback; else -EPERM.
 */
#pragma once

#include <stdint.h>

/* Before the filter. 0 or -errno. No thread may block SIGSYS (base/thread.h). */
int denied_calls_catch(void);

/* Since the start, of all threads. */
uint64_t denied_calls_count(void);

/* Logs what was denied for the first time since the last call; costs nothing when nothing was. */
void denied_calls_tell(void);
