/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's management library, loaded when it is needed: the functions that are called here, with
 * declarations of our own, after NVIDIA's public "NVML API Reference Guide". Names, types and
 * numbers are the ABI's. A function that a driver is too old for is NULL, but for those that are
 * marked.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"

#define NVML_LIBRARY_NAME "libnvidia-ml.so.1"
#define NVML_UUID_MAX     96

/* nvmlReturn_t */
enum nvml_result {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_NOT_FOUND = 6,
	NVML_TOO_SMALL = 7, /* the array; its count is what is needed */
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_TIMEOUT = 10,
	NVML_FUNCTION_NOT_FOUND = 13, /* the driver is older than the library */
	NVML_GPU_IS_LOST = 15,
	NVML_VERSION_MISMATCH = 18, /* of library and driver */
};

typedef struct nvml_device *nvml_device; /* the library's own */

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

typedef int nvml_processes_fn(nvml_device device, unsigned *count, struct nvml_process *ret);

struct nvml_library {
	int (*init)(void); /* there always, as the next four */
	int (*shut_down)(void);
	int (*device_count)(unsigned *ret);
	int (*device_by_index)(unsigned index, nvml_device *ret);
	int (*device_uuid)(nvml_device device, char *ret, unsigned size);
	int (*device_minor)(nvml_device device, unsigned *ret);              /* N of /dev/nvidiaN */
	int (*total_energy)(nvml_device device, unsigned long long *ret_mj); /* since the driver */
	int (*fields)(nvml_device device, int count, struct nvml_field *fields);
	int (*power)(nvml_device device, unsigned *ret_mw);
	int (*utilization)(nvml_device device, struct nvml_utilization *ret);
	/* Samples after @since_us; with NULL their number. */
	int (*process_samples)(nvml_device device, struct nvml_process_sample *ret, unsigned *count,
			       unsigned long long since_us);
	nvml_processes_fn *compute_processes, *graphics_processes, *mps_processes;
};

/*
 * Loads @name, a path or a name that the dynamic linker looks for. 0, or -errno with a message:
 * -ENOENT not installed, -ENOSYS too old. It is never unloaded: it may have threads.
 */
int nvml_library_load(const char *name, struct nvml_library *ret, struct diag *diag);
/* The errno, below 0, that says the same; 0 for NVML_OK. */
int nvml_error(int result);
