// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_vgpu.h"

#include <math.h>
#include <string.h>

#define VM_ID_MAX   80
#define SAMPLES_MAX 256 /* a vGPU has several where the driver samples more often than it is read */

int nvml_vgpus_read(const struct nvml_library *library, vendor_device board, struct nvml_vgpus *ret)
{
	unsigned count = NVML_VGPUS_MAX;
	int result;

	ret->count = 0;
	if (!library->active_vgpus || !library->vgpu_samples || !library->vgpu_vm_id)
		return VENDOR_NOT_SUPPORTED;
	result = library->active_vgpus(board, &count, ret->id);
	if (result == VENDOR_NOT_SUPPORTED)
		return result;
	if (result != VENDOR_OK || count > NVML_VGPUS_MAX)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		char text[VM_ID_MAX] = "";
		unsigned type = 0;

		ret->vm[i] = (struct uuid){ 0 };
		if (library->vgpu_vm_id(ret->id[i], text, sizeof(text), &type) == VENDOR_OK &&
		    type == NVML_VM_ID_UUID)
			(void)uuid_parse(text, strnlen(text, sizeof(text)), &ret->vm[i]);
	}
	ret->count = count;
	return 0;
}

/* Per cent, rounded; an unknown one counts as 0. */
static unsigned per_cent_of(const union nvml_value *value, unsigned type)
{
	if (type == NVML_VALUE_DOUBLE)
		return value->as_double > 0 && value->as_double < 1000
			       ? (unsigned)lround(value->as_double)
			       : 0;
	return type == NVML_VALUE_UNSIGNED ? value->as_unsigned : 0;
}

int nvml_vgpu_samples(const struct nvml_library *library, vendor_device board,
		      unsigned long long since_us, struct nvml_process_sample *ret, unsigned *count)
{
	struct nvml_vgpu_sample samples[SAMPLES_MAX];
	unsigned found = *count < SAMPLES_MAX ? *count : SAMPLES_MAX, type = 0;
	const unsigned room = found;
	int result = library->vgpu_samples(board, since_us, &type, &found, samples);

	if (result == VENDOR_OK && found > room)
		result = VENDOR_TOO_SMALL;
	*count = 0;
	if (result != VENDOR_OK)
		return result;
	for (unsigned i = 0; i < found; i++)
		ret[i] = (struct nvml_process_sample){
			.pid = samples[i].vgpu,
			.time_us = samples[i].time_us,
			.sm = per_cent_of(&samples[i].sm, type),
			.encoder = per_cent_of(&samples[i].encoder, type),
			.decoder = per_cent_of(&samples[i].decoder, type),
		};
	*count = found;
	return VENDOR_OK;
}

struct uuid nvml_vgpu_machine(const struct nvml_vgpus *vgpus, unsigned id)
{
	for (unsigned i = 0; i < vgpus->count; i++) {
		if (vgpus->id[i] == id)
			return vgpus->vm[i];
	}
	return (struct uuid){ 0 };
}
