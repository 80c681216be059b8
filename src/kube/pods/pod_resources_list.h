/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices in the kubelet's PodResources API: the answer to List of v1, and to nothing else.
 * Pure: bytes in, one call a device out. CPUs, memory and the topology are skipped.
 *
 * Field numbers are those of k8s.io/kubelet, pkg/apis/podresources/v1/api.proto. Devices of plugins
 * (ContainerDevices) and of claims (ClaimResource, dynamic resource allocation) are alike here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LISTED_NAME_MAX     253 /* of a pod, a DNS subdomain; all others are shorter */
#define LISTED_RESOURCE_MAX 317 /* a DNS subdomain, a slash, a name */
#define LISTED_ID_MAX       255
#define LISTED_DEVICES_MAX  16384 /* of one answer; what is beyond is counted as bad */

struct listed_container {
	size_t number; /* of those in the answer */
	char namespace_[LISTED_NAME_MAX + 1], pod[LISTED_NAME_MAX + 1];
	char container[LISTED_NAME_MAX + 1];
};

struct listed_device {
	const struct listed_container *container;
	char resource[LISTED_RESOURCE_MAX + 1]; /* "nvidia.com/gpu"; of a claim the driver's name */
	char id[LISTED_ID_MAX + 1];             /* of a claim the device's name */
	char cdi[LISTED_ID_MAX + 1]; /* of a claim: its first CDI device, as it has one; "" none */
};

typedef void listed_device_fn(void *userdata, const struct listed_device *device);

/*
 * Calls @take for each device. Returns the number of devices, containers and pods that were left
 * out because they are malformed or too long; or -EPROTO if the answer as a whole is malformed.
 */
int64_t pod_resources_list(const void *bytes, size_t len, listed_device_fn *take, void *userdata);
