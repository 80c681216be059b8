/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of GPUs. NVIDIA's through NVML, the driver's library (NVML API reference:
 * nvmlDeviceGetTotalEnergyConsumption, in mJ, from Volta on; else nvmlDeviceGetPowerUsage, in mW).
 * AMD's and Intel's through their drivers' hwmon devices: power1_average or power1_input of amdgpu,
 * energy1_input of i915 and xe. NVIDIA states an error of 5 % for the power; it is assumed for all.
 */
#pragma once

#include "truth/truth_meters.h"

#define TRUTH_GPU       "gpu"
#define TRUTH_GPU_ERROR 0.05

/*
 * Adds a meter of the kind TRUTH_GPU for each GPU. @library is NVML's, a name or a path; without
 * it, or without its driver, there are those of hwmon alone.
 */
void truth_search_gpus(const char *sysfs, const char *library, struct truth *truth);
