// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/macro.h"

#define SYMBOL(member, name, needed)                                                               \
	{                                                                                          \
		"nvml" name, offsetof(struct nvml_library, member), needed                         \
	}
static const struct {
	const char *name;
	size_t offset;
	bool is_needed;
} symbols[] = {
	SYMBOL(init, "Init_v2", true),
	SYMBOL(shut_down, "Shutdown", true),
	SYMBOL(device_count, "DeviceGetCount_v2", true),
	SYMBOL(device_by_index, "DeviceGetHandleByIndex_v2", true),
	SYMBOL(device_uuid, "DeviceGetUUID", true),
	SYMBOL(device_minor, "DeviceGetMinorNumber", false),
	SYMBOL(total_energy, "DeviceGetTotalEnergyConsumption", false),
	SYMBOL(fields, "DeviceGetFieldValues", false),
	SYMBOL(power, "DeviceGetPowerUsage", false),
	SYMBOL(utilization, "DeviceGetUtilizationRates", false),
	SYMBOL(process_samples, "DeviceGetProcessUtilization", false),
	SYMBOL(compute_processes, "DeviceGetComputeRunningProcesses_v3", false),
	SYMBOL(graphics_processes, "DeviceGetGraphicsRunningProcesses_v3", false),
	SYMBOL(mps_processes, "DeviceGetMPSComputeRunningProcesses_v3", false),
	/* Of older drivers, with the same structure: where the one above is missing. */
	SYMBOL(compute_processes, "DeviceGetComputeRunningProcesses_v2", false),
	SYMBOL(graphics_processes, "DeviceGetGraphicsRunningProcesses_v2", false),
	SYMBOL(mps_processes, "DeviceGetMPSComputeRunningProcesses_v2", false),
};

static bool has_function(const struct nvml_library *library, size_t offset)
{
	void *function;

	memcpy(&function, (const char *)library + offset, sizeof(function));
	return function != NULL;
}

int nvml_library_load(const char *name, struct nvml_library *ret, struct diag *diag)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	*ret = (struct nvml_library){ 0 };
	if (!handle)
		return diag_set(diag, -ENOENT, "%s cannot be loaded: %s", name, dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *function = dlsym(handle, symbols[i].name);

		if (!function && symbols[i].is_needed)
			return diag_set(diag, -ENOSYS, "%s is too old: it lacks %s", name,
					symbols[i].name);
		if (!has_function(ret, symbols[i].offset))
			memcpy((char *)ret + symbols[i].offset, &function, sizeof(function));
	}
	return 0;
}

int nvml_error(int result)
{
	switch (result) {
	case NVML_OK:
		return 0;
	case NVML_NOT_SUPPORTED:
	case NVML_FUNCTION_NOT_FOUND:
		return -EOPNOTSUPP;
	case NVML_NO_PERMISSION:
		return -EACCES;
	case NVML_NOT_FOUND:
		return -ENOENT;
	case NVML_DRIVER_NOT_LOADED:
	case NVML_GPU_IS_LOST:
		return -ENODEV;
	case NVML_TIMEOUT:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}
