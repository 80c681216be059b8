/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual GPUs (vGPU) of a board: a part that a virtual machine of this host has. The driver
 * samples how much of the board each of them used, and names the machine by its UUID.
 */
#pragma once

#include <stddef.h>

#include "base/text/uuid.h"
#include "gpu/nvml_library.h"

#define NVML_VGPUS_MAX 64 /* of one board; the driver has up to 48 */

/* Those that are active now. */
struct nvml_vgpus {
	unsigned id[NVML_VGPUS_MAX];
	struct uuid vm[NVML_VGPUS_MAX]; /* none: the driver does not name it by UUID, as with Xen */
	unsigned count;
};

/* 0, or VENDOR_NOT_SUPPORTED: the board has none, and will not. Without a vGPU the count is 0. */
int nvml_vgpus_read(const struct nvml_library *library, vendor_device board,
		    struct nvml_vgpus *ret);
/*
 * Samples after @since_us, as those of processes whose pids are numbers of vGPUs; *count is how
 * many there is room for, and then how many there are. A result of the library.
 */
int nvml_vgpu_samples(const struct nvml_library *library, vendor_device board,
		      unsigned long long since_us, struct nvml_process_sample *ret,
		      unsigned *count);
/* The machine of the vGPU of that number; none if it is not known. */
struct uuid nvml_vgpu_machine(const struct nvml_vgpus *vgpus, unsigned id);
