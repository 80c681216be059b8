/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet's PodResources API: a thread that asks it which container holds which device, over
 * the unix socket to which only processes on this machine can connect. docs/design/kubernetes.md
 * has the reasons.
 *
 * List of v1 every 5 s, at first every second while the directory does not know a container yet;
 * after a fault as described in src/net/backoff.h. Each answer replaces the one before; while none
 * comes the last one stays, for the devices of running containers are not given to others without
 * the kubelet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "kube/pods/pod_devices.h"

#define POD_RESOURCES_DIR    "/var/lib/kubelet/pod-resources"
#define POD_RESOURCES_SOCKET POD_RESOURCES_DIR "/kubelet.sock"

struct directory;
struct pod_resources;

struct pod_resources_options {
	const char *socket;         /* copied */
	void (*start_thread)(void); /* first thing on the thread, to give up rights; or NULL */
};

struct pod_resources_stats {
	bool reachable; /* the last call was answered */
	uint64_t requests, failures;
	uint64_t bad;    /* pods, containers and devices that were not as the API says */
	uint64_t beyond; /* ids in the last list that did not fit */
	char last_error[256];
};

/*
 * Starts the thread, which loads the library. 0, or -errno with diag: there is no descriptor, no
 * memory, no thread. A socket that is not there is not an error.
 */
int pod_resources_start(const struct pod_resources_options *options, struct directory *directory,
			struct pod_resources **ret, struct diag *diag);
/* Returns within a second. Takes NULL. */
void pod_resources_stop(struct pod_resources *resources);
/*
 * Returns true if there was a new answer since the last call, which is exchanged with *devices.
 */
bool pod_resources_take(struct pod_resources *resources, struct pod_devices *devices);
void pod_resources_get_stats(struct pod_resources *resources, struct pod_resources_stats *ret);
