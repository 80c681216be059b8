// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_library.h"

#include "base/macro.h"

#define FUNCTION(member, name, needed)                                                             \
	{                                                                                          \
		"nvml" name, offsetof(struct nvml_library, member), needed                         \
	}
const struct vendor_function nvml_functions[] = {
	FUNCTION(common.init, "Init_v2", true),
	FUNCTION(common.shut_down, "Shutdown", true),
	FUNCTION(common.device_count, "DeviceGetCount_v2", true),
	FUNCTION(common.device_by_index, "DeviceGetHandleByIndex_v2", true),
	FUNCTION(common.device_uuid, "DeviceGetUUID", true),
	FUNCTION(common.device_minor, "DeviceGetMinorNumber", false),
	FUNCTION(common.total_energy, "DeviceGetTotalEnergyConsumption", false),
	FUNCTION(common.power, "DeviceGetPowerUsage", false),
	FUNCTION(fields, "DeviceGetFieldValues", false),
	FUNCTION(utilization, "DeviceGetUtilizationRates", false),
	FUNCTION(process_samples, "DeviceGetProcessUtilization", false),
	FUNCTION(compute_processes, "DeviceGetComputeRunningProcesses_v3", false),
	FUNCTION(graphics_processes, "DeviceGetGraphicsRunningProcesses_v3", false),
	FUNCTION(mps_processes, "DeviceGetMPSComputeRunningProcesses_v3", false),
	FUNCTION(mig_mode, "DeviceGetMigMode", false),
	FUNCTION(mig_devices_max, "DeviceGetMaxMigDeviceCount", false),
	FUNCTION(mig_device_by_index, "DeviceGetMigDeviceHandleByIndex", false),
	FUNCTION(gpu_instance_id, "DeviceGetGpuInstanceId", false),
	FUNCTION(attributes, "DeviceGetAttributes_v2", false),
	FUNCTION(profile, "DeviceGetGpuInstanceProfileInfo", false),
	FUNCTION(gpm_support, "GpmQueryDeviceSupport", false),
	FUNCTION(gpm_sample_alloc, "GpmSampleAlloc", false),
	FUNCTION(gpm_sample_free, "GpmSampleFree", false),
	FUNCTION(gpm_mig_sample, "GpmMigSampleGet", false),
	FUNCTION(gpm_metrics, "GpmMetricsGet", false),
	FUNCTION(active_vgpus, "DeviceGetActiveVgpus", false),
	FUNCTION(vgpu_samples, "DeviceGetVgpuUtilization", false),
	FUNCTION(vgpu_vm_id, "VgpuInstanceGetVmID", false),
	/* For older drivers, which lack the one above; with the same structure. */
	FUNCTION(compute_processes, "DeviceGetComputeRunningProcesses_v2", false),
	FUNCTION(graphics_processes, "DeviceGetGraphicsRunningProcesses_v2", false),
	FUNCTION(mps_processes, "DeviceGetMPSComputeRunningProcesses_v2", false),
};
const size_t nvml_function_count = ARRAY_SIZE(nvml_functions);
