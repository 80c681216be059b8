/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few language helpers that C lacks: scope-bound clean-up, handing over ownership, array
 * length.
 *
 * A result is built in a CLEANUP() local and handed over with TAKE_PTR()/TAKE_FD(), so that an
 * early return never leaks and a caller's variable is never half-written.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/banned.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CLEANUP(fn)   __attribute__((cleanup(fn)))
#define CLEANUP_FREE  CLEANUP(cleanup_free)
#define CLEANUP_FD    CLEANUP(cleanup_fd)

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
