/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instances of a board in MIG mode: how large they are, how busy each was, and the devices in
 * them that software is given.
 *
 * The driver does not say what power an instance draws. Its busy time is its own activity, where
 * the board measures that (GPM, from Hopper on), times its part of the board's multiprocessors.
 */
#pragma once

#include <stdint.h>

#include "energy/work.h"
#include "gpu/nvml_library.h"

#define NVML_INSTANCES_MAX 8 /* of one board; so many slices has the largest */
#define NVML_MIG_UUID_MAX  64

/* A GPU instance. */
struct nvml_instance {
	uint32_t id;
	double part;     /* of the board's multiprocessors; 0..1 */
	uint32_t held;   /* of DEVICE_WHOLE: its slices */
	double activity; /* of its own since the last reading, 0..1; NAN: not known */
	nvml_gpm_sample before, now;
	bool has_before;
	unsigned long long seen_us; /* the newest sample of its processes: the caller's */
};

/* A MIG device: a compute instance; a GPU instance has one or several. */
struct nvml_mig_device {
	vendor_device device;
	uint32_t instance; /* the id of its GPU instance */
	uint32_t held;     /* of DEVICE_WHOLE */
	char uuid[NVML_MIG_UUID_MAX];
};

struct nvml_mig {
	bool was_asked; /* the next three are known */
	bool has_gpm;
	unsigned multiprocessors; /* of the board in all; 0: not known */
	unsigned slices;
	struct nvml_instance instances[NVML_INSTANCES_MAX];
	size_t count;
	struct nvml_mig_device devices[NVML_INSTANCES_MAX];
	size_t device_count;
};

/* Returns true if the board is in MIG mode. */
bool nvml_mig_is_on(const struct nvml_library *library, vendor_device board);
/* The instances that there are now, and what they did since the last call; @mig begins as zeros. */
void nvml_mig_read(const struct nvml_library *library, vendor_device board, struct nvml_mig *mig);
/* Forgets a board, because it was gone or at the end. Takes zeros. */
void nvml_mig_clear(const struct nvml_library *library, struct nvml_mig *mig);
/*
 * For how long it kept the board busy. Without its own activity a rule applies, which is not a
 * measurement: as busy as the board (@board_busy_ns of @elapsed_ns) if @has_processes, else not.
 */
uint64_t nvml_instance_busy_ns(const struct nvml_instance *instance, uint64_t elapsed_ns,
			       uint64_t board_busy_ns, bool has_processes);
