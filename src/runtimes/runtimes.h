/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How do container runtimes on this host call a container? Names for hosts without Kubernetes.
 *
 * State files are read first: they want no more than reading, which this program may anyway. The
 * APIs of Docker and Podman are asked only where a socket is configured, because who may connect to
 * it may do anything (docs/design/runtimes.md). Optional, in a thread of its own: a runtime that
 * hangs costs names and nothing else. A scan is made when an unknown container is met, at most once
 * a second (every two while that finds nothing new), and every 60 s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct directory;
struct runtimes;

/* Strings are copied. */
struct runtimes_options {
	const char *root;             /* prefix of all paths below; NULL: "" */
	const char *docker_socket;    /* NULL or "": not asked */
	const char *podman_socket;    /* NULL or "": not asked */
	const char *docker_state;     /* NULL: /var/lib/docker */
	const char *containerd_state; /* NULL: /run/containerd, and those of k3s and MicroK8s */
	/* NULL: /run/containers/storage and /var/lib/containers/storage; else serves as both. */
	const char *crio_state;
};

struct runtimes_stats {
	uint64_t scans, failures, containers;
	uint64_t bad; /* entries that are no containers, files that are not what they should be */
	uint64_t refused;      /* by a limit, in the newest scan */
	uint32_t sockets_down; /* configured ones that did not answer, in the newest scan */
	char present[128];     /* "docker podman", "" none */
	char last_error[256];
};

/* 0, -ENOMEM, -EMFILE …; a runtime that is not there or does not answer is no error. */
int runtimes_start(const struct runtimes_options *options, struct directory *directory,
		   struct runtimes **ret, struct diag *diag);
/* Returns within a second, unless a runtime's state hangs. NULL is allowed. */
void runtimes_stop(struct runtimes *runtimes);
void runtimes_get_stats(struct runtimes *runtimes, struct runtimes_stats *ret);
