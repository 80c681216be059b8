/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that container runtimes on this host give to containers, for hosts without Kubernetes.
 *
 * State files are read first: they only need permission to read, which this program has anyway. The
 * APIs of Docker and Podman are asked only where a socket is configured, because a process with
 * access to that socket can do anything on the host (docs/design/runtimes.md). This is optional and
 * runs in a thread of its own: a runtime that hangs only costs names. A scan is made when an
 * unknown container appears, at most once a second (every two seconds while that finds nothing
 * new), and every 60 s.
 */
#pragma once

#include "base/diag.h"
#include "runtimes/runtimes_options.h"

struct directory;
struct runtimes;

/* 0, -ENOMEM, -EMFILE …; a runtime that is missing or does not answer is not an error. */
int runtimes_start(const struct runtimes_options *options, struct directory *directory,
		   struct runtimes **ret, struct diag *diag);
/* Returns within a second, unless a runtime's state hangs. NULL is allowed. */
void runtimes_stop(struct runtimes *runtimes);
void runtimes_get_stats(struct runtimes *runtimes, struct runtimes_stats *ret);
