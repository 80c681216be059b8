/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pure readers of what runtimes write: JSON bytes → names of containers, one call each.
 *
 * The bytes are untrusted: sizes are bounded by the callers, depth by JSON_DEPTH_MAX, a bad
 * element is counted and the others stay. Strings live until the callback returns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "workload/directory.h"

/* Anything but 0 ends the reading with that result. */
typedef int names_fn(void *userdata, const struct container_names *names);

/*
 * config.json of an OCI bundle (runtime-spec 1.0, "annotations"), of container @id: what
 * containerd's CRI and nerdctl, or CRI-O, write there. 0 and one call, with empty names where there
 * are none; -EBADMSG: not an OCI configuration. A pod is named only where linux.cgroupsPath lies in
 * it: annotations hold what authors of pods and images wrote, too.
 */
int containerd_bundle_names(const char *text, size_t len, const char *id, names_fn *fn,
			    void *userdata);
int crio_bundle_names(const char *text, size_t len, const char *id, names_fn *fn, void *userdata);

/*
 * Answer of GET /containers/json of Docker's API, and of Podman's that is compatible with it.
 * Labels name a pod only where the container's name is the kubelet's and says the same: an image
 * has labels, too. *bad counts elements that are no containers; -EBADMSG: from some place on it is
 * not JSON (those before were handed over).
 */
int docker_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata);

/* config.v2.json, Docker's own state of one container. 0 and one call, or -EBADMSG. */
int docker_config_names(const char *text, size_t len, names_fn *fn, void *userdata);

/*
 * containers.json of containers/storage: Podman's containers. Those of CRI-O are in it too, are
 * passed over here, and known by their bundles. Results as of docker_list_names().
 */
int storage_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata);
