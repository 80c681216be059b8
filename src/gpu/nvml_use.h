/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what NVML says of processes to the time for which each kept the board busy. Pure.
 *
 * The driver samples what processes do, as per cent of the board, and gives one sample a process or
 * several, according to its version. Where it does not, as with MIG, the board's busy time is
 * shared by the memory that each process holds: what holds none, or is not known, shares equally.
 */
#pragma once

#include <stddef.h>

#include "energy/work.h"
#include "gpu/nvml_library.h"

/*
 * Writes at most @count uses, of which one process may have several; returns how many. @elapsed_ns
 * is the time that the samples are of.
 */
size_t nvml_use_of_samples(const struct nvml_process_sample *samples, size_t count, uint32_t device,
			   uint64_t elapsed_ns, struct device_use *ret);
/*
 * Splits @busy_ns to the nanosecond over @processes; a process that is listed twice is one. @ret
 * has room for @count, or for 1 where there are none: then nothing is known but the time.
 */
size_t nvml_use_by_memory(const struct nvml_process *processes, size_t count, uint32_t device,
			  uint64_t busy_ns, struct device_use *ret);
