/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How do container runtimes on this host call a container? Names for hosts without Kubernetes.
 *
 * Docker and Podman are asked over their unix sockets, containerd and CRI-O are read from their
 * state files. Read-only, optional, in a thread of its own: a runtime that hangs costs names and
 * nothing else. Asked when an unknown container is met (at most once a second) and every 60 s.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct directory;
struct runtimes;

struct runtimes_options {
	const char *root;  /* prefix of all paths below; "" */
	const char *docker_socket;     /* NULL: /run/docker.sock */
	const char *podman_socket;     /* NULL: /run/podman/podman.sock */
	const char *containerd_state;  /* NULL: /run/containerd */
	const char *crio_state;        /* NULL: /run/containers/storage and /var/lib/containers/storage */
};

struct runtimes_stats {
	uint64_t requests, failures, containers;
	char present[128]; /* "docker podman", "" none */
	char last_error[256];
};

int runtimes_start(const struct runtimes_options *options, struct directory *directory,
		   struct runtimes **ret, struct diag *diag);
void runtimes_stop(struct runtimes *runtimes);
void runtimes_get_stats(struct runtimes *runtimes, struct runtimes_stats *ret);
