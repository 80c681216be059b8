/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pure parsers of the runtimes' files: JSON bytes → names of containers, one call each.
 *
 * The bytes are untrusted: sizes are bounded by the callers, depth by JSON_DEPTH_MAX, a bad
 * element is counted and the others stay. Strings live until the callback returns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "workload/name_directory.h"

/* A result other than 0 ends the reading with it. */
typedef int names_fn(void *userdata, const struct container_names *names);

/*
 * config.json of an OCI bundle (runtime-spec 1.0, "annotations"), of container @id, written by
 * containerd's CRI and nerdctl, or CRI-O. 0 and one call, in which missing names are empty;
 * -EBADMSG: not an OCI configuration. A pod is named only if linux.cgroupsPath is in it, because
 * authors of pods and images can write annotations, too.
 */
int containerd_bundle_names(const char *text, size_t len, const char *id, names_fn *fn,
			    void *userdata);
int crio_bundle_names(const char *text, size_t len, const char *id, names_fn *fn, void *userdata);

/*
 * Answer of GET /containers/json of Docker's API, and of Podman's that is compatible with it.
 * Labels name a pod only if the container's name was given by the kubelet and agrees, because an
 * image has labels, too. *bad counts elements that are not containers; -EBADMSG: from some place on
 * it is not JSON (the containers before were reported).
 */
int docker_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata);

/* config.v2.json, Docker's own state of one container. 0 and one call, or -EBADMSG. */
int docker_config_names(const char *text, size_t len, names_fn *fn, void *userdata);

/*
 * containers.json of containers/storage: Podman's containers. It also has those of CRI-O, which are
 * skipped here and read from their bundles. Results as for docker_list_names().
 */
int storage_list_names(const char *text, size_t len, uint64_t *bad, names_fn *fn, void *userdata);
