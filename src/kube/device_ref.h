/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of our zones a device of Kubernetes is: device plugins and drivers of dynamic resource
 * allocation (DRA) name devices each in its own way. Pure.
 *
 *   source                           its name                          is the board
 *   NVIDIA's plugin                  GPU-UUID                          with that UUID
 *     time-slicing, MPS              GPU-UUID::3                       the same, a replica of it
 *     MIG                            MIG-UUID, MIG-GPU-UUID/1/0        that has it as a part
 *   GKE's plugin                     nvidia0, nvidia0/vgpu2            /dev/nvidia0
 *     MIG                            nvidia0/gi3, nvidia0/gi3/vgpu1    not known: a part of one
 *   AMD's plugin                     0000:03:00.0                      at that PCI address
 *     partitions                     amdgpu_xcp_30                     not known: a part of one
 *   Intel's plugin                   card0-1                           card0
 *   DRA, gpu.nvidia.com              gpu-0                             0, where all numbers agree
 *     MIG                            gpu-0-mig-9-0-1                   not known: a part of one
 *   DRA, gpu.intel.com               0000-03-00-0-0x56c0               at that PCI address
 *   DRA, gpu.amd.com                 gpu-1-129                         not known, see below
 *
 * NVIDIA's DRA driver numbered boards by their minor number at first and by their place in NVML's
 * list later; on some machines these differ. So a number is used if they are the same for all
 * boards. A CDI device with the board's UUID takes precedence. AMD's DRA driver gives partitions
 * the names of boards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "energy/zone.h"
#include "kube/pods/pod_resources_list.h"

enum device_ref_kind {
	DEVICE_NO_GPU,   /* something else: a network card, huge pages … */
	DEVICE_UNKNOWN,  /* a GPU, or a part of one, that no zone can be found for */
	DEVICE_INSTANCE, /* by the zone's instance: a UUID, or a PCI address */
	DEVICE_NODE,     /* by the first word of the zone's path: "nvidia0", "card1" */
	DEVICE_NUMBER,   /* by the number of NVIDIA's boards */
	DEVICE_PART,     /* a part of one, by its UUID: the driver knows the board */
};

struct device_ref {
	enum device_ref_kind kind;
	uint32_t number;
	char text[ZONE_INSTANCE_MAX];
};

#define DEVICE_REF_NONE UINT32_MAX

struct device_ref device_ref_of(const struct listed_device *device);
bool device_ref_is_same(const struct device_ref *a, const struct device_ref *b);
/*
 * The number in struct domain of the device among @zones, which may be others, too; or
 * DEVICE_REF_NONE, as for all parts.
 */
uint32_t device_ref_find(const struct device_ref *ref, const struct zone *const *zones,
			 size_t count);
