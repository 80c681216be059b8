/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of container names: the directory, and the sources that the configuration selects.
 *
 * Names are optional: a source that cannot be started (no kubeconfig, no libcurl, no descriptor) is
 * down, reports why, and is retried every NAMES_RETRY_NS. Kubernetes is started off the caller's
 * thread, since its files may be on a mount that hangs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "base/offload.h"
#include "config/config.h"
#include "kube/kube.h"
#include "runtimes/runtimes.h"
#include "workload/name_directory.h"

#define NAMES_RETRY_NS (10ULL * 1000000000)

struct kube_job;

struct name_source_health {
	char source[16]; /* "kubernetes", "runtimes" */
	char via[64];    /* "kubelet", "apiserver"; "docker podman"; "" while none responds */
	bool is_up;
	uint64_t requests, failures, bad, labels_lost, containers;
	double age_s; /* since its last response; NaN before the first */
};

struct names_health {
	struct name_source_health sources[DIRECTORY_SOURCE_COUNT]; /* that are configured */
	uint32_t source_count;
	uint64_t found, unknown, refused; /* look-ups of containers */
};
extern const struct health_part names_health_part; /* of a struct names */

struct names {
	struct directory *directory;
	struct kube *kube;         /* NULL: not configured, or not started yet */
	struct runtimes *runtimes; /* NULL: off, or not started yet */
	bool wants_kube, wants_runtimes;
	struct pod_addresses *addresses; /* that Kubernetes is to keep; borrowed, or NULL */
	const struct config *config;     /* borrowed; what a reload does not change */
	struct offload *starter; /* the thread that starts Kubernetes; NULL: none can be had */
	struct kube_job *job;    /* under way, or NULL */
	uint64_t tried_ns;       /* MONOTONIC, the last start of any */
	char kube_error[256], runtimes_error[256]; /* why it was not started; "" none */
	bool told_kube, told_runtimes;             /* of that error */
	bool is_away;                              /* Kubernetes, as reported last */
};

/* The directory alone, empty; sources come by names_start(). 0 or -ENOMEM with a diagnosis. */
int names_open(const struct config *config, struct names *ret, struct diag *diag);
/*
 * Starts the sources' threads: those that talk to a network without any capability. Waits at most
 * @patience_ns for Kubernetes' files; names_tell() retries sources that could not be started.
 * @config must live until names_reconfigure() or names_close().
 */
void names_start(const struct config *config, struct names *names, uint64_t patience_ns);
/* After a reload of the configuration: takes over the interval, the only value that may change. */
void names_reconfigure(struct names *names, const struct config *config);
/*
 * Once per interval: logs which source could not be started, when and why Kubernetes stops
 * answering, and when it recovers; retries sources that are not started yet. Never waits.
 */
void names_tell(struct names *names, uint64_t now_ns);
/* Waits at most a second for a start that is under way. */
void names_close(struct names *names);
