/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which containers hold which devices: the kubelet's list, condensed to what is charged by it. Of a
 * container all ids of one device are one entry with their number; names have become ids where the
 * directory knows them. Bounded; what is beyond is counted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kube/device_ref.h"
#include "kube/pods/pod_resources_list.h"
#include "workload/name_directory.h"

#define POD_DEVICES_MAX    1024
#define POD_CONTAINERS_MAX 512
/* That one name may stand for: what runs now, and what ran before. */
#define POD_CONTAINER_IDS_MAX 4

struct pod_container {
	char ids[POD_CONTAINER_IDS_MAX][DIRECTORY_ID_MAX + 1];
	size_t id_count; /* 0: the directory does not know it */
};

struct pod_device {
	struct device_ref ref;
	uint32_t container; /* index of its entry */
	uint64_t ids;
};

struct pod_devices {
	struct pod_container *containers;
	size_t container_count, container_size;
	struct pod_device *devices;
	size_t device_count, device_size;
	uint64_t unknown; /* ids of GPUs that no zone can be found for */
	uint64_t beyond;  /* ids that did not fit */
	size_t nameless;  /* containers that the directory does not know */
	size_t number;    /* of the container in the list that was added last */
};

/* An empty list; memory is kept. */
void pod_devices_clear(struct pod_devices *devices);
/* Devices other than GPUs are left out. Without memory the id is counted as beyond. */
void pod_devices_add(struct pod_devices *devices, struct directory *directory,
		     const struct listed_device *device);
void pod_devices_release(struct pod_devices *devices);
