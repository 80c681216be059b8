/* SPDX-License-Identifier: Apache-2.0 */
/* Where names are looked for, and what came of it: the terms of runtimes.h and of its scans. */
#pragma once

#include <stdint.h>

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
	uint64_t bad;          /* entries that are not containers, malformed files */
	uint64_t refused;      /* by a limit, in the newest scan */
	uint32_t sockets_down; /* configured ones that did not answer, in the newest scan */
	char present[128];     /* "docker podman", "" none */
	char last_error[256];
};
