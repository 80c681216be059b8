/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what NVML says of processes to the time for which each kept the board busy. Pure.
 *
 * The driver samples what processes do, as per cent of the board, and gives one sample a process or
 * several, according to its version. Where it does not, as with MIG, the busy time of a board, or
 * of an instance of it, is shared by the memory that each process holds: where none is known,
 * equally.
 */
#pragma once

#include <stddef.h>

#include "energy/work.h"
#include "gpu/nvml_library.h"

/*
 * Writes at most @count uses; one process may have several. Returns how many. @elapsed_ns is the
 * time that the samples cover.
 */
size_t nvml_use_of_samples(const struct nvml_process_sample *samples, size_t count, uint32_t device,
			   uint64_t elapsed_ns, struct device_use *ret);
/*
 * Splits @busy_ns to the nanosecond over @processes; a process that is listed twice is one. @ret
 * has room for @count, or for 1 without processes: then only the time is known.
 */
size_t nvml_use_by_memory(const struct nvml_process *processes, size_t count, uint32_t device,
			  uint64_t busy_ns, struct device_use *ret);
/*
 * Splits @busy_ns to the nanosecond as samples have used it; returns at most @count uses, and none
 * where none of them has used anything.
 */
size_t nvml_use_by_samples(const struct nvml_process_sample *samples, size_t count, uint32_t device,
			   uint64_t busy_ns, struct device_use *ret);
/* Splits @held equally over @processes, each once; at most @count uses, of no time. */
size_t nvml_use_of_holders(const struct nvml_process *processes, size_t count, uint32_t device,
			   uint32_t held, struct device_use *ret);
/* Sorts those of @gpu_instance to the front; returns how many they are. */
size_t nvml_processes_of(struct nvml_process *processes, size_t count, uint32_t gpu_instance);
