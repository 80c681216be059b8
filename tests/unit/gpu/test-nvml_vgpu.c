// SPDX-License-Identifier: Apache-2.0
/* On functions that stand in for the library's: one board, whose vGPUs a test makes. */
#include "gpu/nvml_vgpu.h"

#include "tests/unit/unit.h"

#define UUID "2C4F8E6A-0b1d-4c3e-9f5a-6b7c8d9e0f1a"

static unsigned vgpu_count, type;
static const char *vm_id;
static unsigned vm_id_type;
static int answer;

static int get_active(vendor_device board, unsigned *count, unsigned *ret)
{
	(void)board;
	for (unsigned i = 0; i < vgpu_count && i < *count; i++)
		ret[i] = 7 + i;
	*count = vgpu_count;
	return answer;
}

static int get_vm_id(unsigned vgpu, char *ret, unsigned size, unsigned *ret_type)
{
	(void)vgpu;
	(void)snprintf(ret, size, "%s", vm_id);
	*ret_type = vm_id_type;
	return VENDOR_OK;
}

static int get_samples(vendor_device board, unsigned long long since_us, unsigned *ret_type,
		       unsigned *count, struct nvml_vgpu_sample *ret)
{
	(void)board;
	if (*count >= 1)
		ret[0] = (struct nvml_vgpu_sample){ .vgpu = 7, .time_us = since_us + 1 };
	if (*count >= 1 && type == NVML_VALUE_DOUBLE)
		ret[0].sm.as_double = 41.6;
	else if (*count >= 1)
		ret[0].decoder.as_unsigned = 30;
	*count = vgpu_count;
	*ret_type = type;
	return answer;
}

static const struct nvml_library library = { .active_vgpus = get_active,
					     .vgpu_samples = get_samples,
					     .vgpu_vm_id = get_vm_id };

static int begin(void **state)
{
	vgpu_count = 1;
	type = NVML_VALUE_UNSIGNED;
	vm_id = UUID;
	vm_id_type = NVML_VM_ID_UUID;
	answer = VENDOR_OK;
	return 0;
}

static void a_vgpu_belongs_to_a_machine(void **state)
{
	struct nvml_vgpus vgpus;
	struct uuid vm;

	vgpu_count = 2;
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), 0);
	assert_int_equal(vgpus.count, 2);
	vm = nvml_vgpu_machine(&vgpus, 8);
	assert_true(vm.high == 0x2c4f8e6a0b1d4c3e && vm.low == 0x9f5a6b7c8d9e0f1a);
	vm = nvml_vgpu_machine(&vgpus, 9);
	assert_false(uuid_is_set(&vm));
}

static void a_machine_that_is_not_named_by_uuid_is_not_known(void **state)
{
	struct nvml_vgpus vgpus;

	vm_id_type = 0;
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), 0);
	assert_false(uuid_is_set(&vgpus.vm[0]));
	vm_id_type = NVML_VM_ID_UUID;
	vm_id = "3";
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), 0);
	assert_false(uuid_is_set(&vgpus.vm[0]));
}

static void only_a_host_of_vgpus_has_any(void **state)
{
	struct nvml_library old = library;
	struct nvml_vgpus vgpus;

	answer = VENDOR_NOT_SUPPORTED;
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), VENDOR_NOT_SUPPORTED);
	answer = VENDOR_TIMEOUT; /* they may be there */
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), 0);
	assert_int_equal(vgpus.count, 0);
	answer = VENDOR_OK;
	vgpu_count = NVML_VGPUS_MAX + 1;
	assert_int_equal(nvml_vgpus_read(&library, NULL, &vgpus), 0);
	assert_int_equal(vgpus.count, 0);
	old.vgpu_vm_id = NULL;
	assert_int_equal(nvml_vgpus_read(&old, NULL, &vgpus), VENDOR_NOT_SUPPORTED);
}

static void samples_are_per_cent_of_either_type(void **state)
{
	struct nvml_process_sample samples[2];
	unsigned count = 2;

	assert_int_equal(nvml_vgpu_samples(&library, NULL, 5, samples, &count), VENDOR_OK);
	assert_int_equal(count, 1);
	assert_true(samples[0].pid == 7 && samples[0].time_us == 6);
	assert_true(samples[0].sm == 0 && samples[0].decoder == 30);
	type = NVML_VALUE_DOUBLE;
	assert_int_equal(nvml_vgpu_samples(&library, NULL, 5, samples, &count), VENDOR_OK);
	assert_true(samples[0].sm == 42 && samples[0].decoder == 0);
	type = 5; /* not one that is known */
	assert_int_equal(nvml_vgpu_samples(&library, NULL, 5, samples, &count), VENDOR_OK);
	assert_true(samples[0].sm == 0);
	vgpu_count = 2; /* more than there is room for */
	assert_int_equal(nvml_vgpu_samples(&library, NULL, 5, samples, &count), VENDOR_TOO_SMALL);
	assert_int_equal(count, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_vgpu_belongs_to_a_machine, begin),
		cmocka_unit_test_setup(a_machine_that_is_not_named_by_uuid_is_not_known, begin),
		cmocka_unit_test_setup(only_a_host_of_vgpus_has_any, begin),
		cmocka_unit_test_setup(samples_are_per_cent_of_either_type, begin),
	};

	return unit_run(tests);
}
