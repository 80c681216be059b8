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

/* The use of a process between two samples of the driver, in per cent of the board. */
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

/* nvmlValue_t, of one of these types: */
union nvml_value {
	double as_double;
	unsigned as_unsigned;
	unsigned long as_ulong;
	unsigned long long as_ulonglong;
	long long as_longlong;
};
#define NVML_VALUE_DOUBLE   0
#define NVML_VALUE_UNSIGNED 1

/* nvmlFieldValue_t */
struct nvml_field {
	unsigned id, scope;
	long long time_us, latency_us;
	unsigned type; /* of the value */
	int result;
	union nvml_value value;
};
#define NVML_FIELD_POWER_INSTANT 186 /* mW, unsigned */

/* nvmlVgpuInstanceUtilizationSample_t: in per cent of the board. */
struct nvml_vgpu_sample {
	unsigned vgpu;
	unsigned long long time_us;
	union nvml_value sm, memory, encoder, decoder;
};
#define NVML_VM_ID_UUID 1 /* nvmlVgpuVmIdType_t; 0: the number of a domain */

/* nvmlDeviceAttributes_t: of a MIG device, which is a compute instance in a GPU instance. */
struct nvml_attributes {
	unsigned multiprocessors; /* the compute instance's */
	unsigned copy_engines, decoders, encoders, jpeg, ofa;
	unsigned gpu_slices, compute_slices; /* of its GPU instance; of these, its own */
	unsigned long long memory_mib;
};

/* nvmlGpuInstanceProfileInfo_t: a size that a GPU instance can have. */
struct nvml_profile {
	unsigned id, is_p2p, slices, instances, multiprocessors;
	unsigned copy_engines, decoders, encoders, jpeg, ofa;
	unsigned long long memory_mib;
};
#define NVML_PROFILES_MAX 18

/* GPU performance monitoring (GPM), from Hopper on: counters between two samples. */
typedef struct nvml_gpm_sample *nvml_gpm_sample; /* the library's own */

/* nvmlGpmSupport_t */
struct nvml_gpm_support {
	unsigned version, is_supported;
};
#define NVML_GPM_VERSION 1

struct nvml_gpm_metric {
	unsigned id;
	int result;
	double value;
	const char *short_name, *long_name, *unit;
};
#define NVML_GPM_GRAPHICS_UTIL 1 /* per cent of the time in which anything ran */
#define NVML_GPM_SM_UTIL       2 /* per cent of the multiprocessors that were busy */

/* nvmlGpmMetricsGet_t: its array has the length that the caller says. */
struct nvml_gpm_request {
	unsigned version, count;
	nvml_gpm_sample from, to;
	struct nvml_gpm_metric metrics[2];
};

typedef int nvml_processes_fn(vendor_device device, unsigned *count, struct nvml_process *ret);

struct nvml_library {
	struct vendor_library common;
	int (*fields)(vendor_device device, int count, struct nvml_field *fields);
	int (*utilization)(vendor_device device, struct nvml_utilization *ret);
	/* Samples after @since_us; with NULL their number. */
	int (*process_samples)(vendor_device device, struct nvml_process_sample *ret,
			       unsigned *count, unsigned long long since_us);
	nvml_processes_fn *compute_processes, *graphics_processes, *mps_processes;
	/* Multi-instance GPU (MIG). */
	int (*mig_mode)(vendor_device device, unsigned *ret_current, unsigned *ret_pending);
	int (*mig_devices_max)(vendor_device device, unsigned *ret);
	int (*mig_device_by_index)(vendor_device device, unsigned index, vendor_device *ret);
	int (*gpu_instance_id)(vendor_device mig_device, unsigned *ret);
	int (*attributes)(vendor_device mig_device, struct nvml_attributes *ret);
	int (*profile)(vendor_device device, unsigned profile, struct nvml_profile *ret);
	int (*gpm_support)(vendor_device device, struct nvml_gpm_support *ret);
	int (*gpm_sample_alloc)(nvml_gpm_sample *ret);
	int (*gpm_sample_free)(nvml_gpm_sample sample);
	int (*gpm_mig_sample)(vendor_device device, unsigned gpu_instance, nvml_gpm_sample sample);
	int (*gpm_metrics)(struct nvml_gpm_request *request);
	/* Virtual GPUs, on the host. */
	int (*active_vgpus)(vendor_device device, unsigned *count, unsigned *ret);
	int (*vgpu_samples)(vendor_device device, unsigned long long since_us, unsigned *ret_type,
			    unsigned *count, struct nvml_vgpu_sample *ret);
	int (*vgpu_vm_id)(unsigned vgpu, char *ret, unsigned size, unsigned *ret_type);
};

extern const struct vendor_function nvml_functions[];
extern const size_t nvml_function_count;
