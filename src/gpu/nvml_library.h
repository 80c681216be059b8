/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's management library: the functions that are called here, with declarations of our own,
 * after NVIDIA's public "NVML API Reference Guide". Names, types and numbers are the ABI's.
 */
#pragma once

#include "gpu/vendor_library.h"

#define NVML_LIBRARY_NAME "libnvidia-ml.so.1"

struct nvml_utilization {
	unsigned gpu, memory; /* per cent of the last sample period */
};

/* What a process used between two samples of the driver, in per cent of the board. */
struct nvml_process_sample {
	unsigned pid;
	unsigned long long time_us; /* CLOCK_REALTIME */
	unsigned sm, memory, encoder, decoder;
};

struct nvml_process {
	unsigned pid;
	unsigned long long memory_bytes; /* NVML_MEMORY_UNKNOWN where the driver does not say */
	unsigned gpu_instance, compute_instance;
};
#define NVML_MEMORY_UNKNOWN (~0ULL)

/* nvmlFieldValue_t */
struct nvml_field {
	unsigned id, scope;
	long long time_us, latency_us;
	unsigned type; /* of the value: */
	int result;
	union {
		double as_double;
		unsigned as_unsigned;
		unsigned long as_ulong;
		unsigned long long as_ulonglong;
		long long as_longlong;
	} value;
};
#define NVML_FIELD_POWER_INSTANT 186 /* mW, unsigned */
#define NVML_VALUE_UNSIGNED      1

typedef int nvml_processes_fn(vendor_device device, unsigned *count, struct nvml_process *ret);

struct nvml_library {
	struct vendor_library common;
	int (*fields)(vendor_device device, int count, struct nvml_field *fields);
	int (*utilization)(vendor_device device, struct nvml_utilization *ret);
	/* Samples after @since_us; with NULL their number. */
	int (*process_samples)(vendor_device device, struct nvml_process_sample *ret,
			       unsigned *count, unsigned long long since_us);
	nvml_processes_fn *compute_processes, *graphics_processes, *mps_processes;
};

extern const struct vendor_function nvml_functions[];
extern const size_t nvml_function_count;
