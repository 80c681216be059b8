// SPDX-License-Identifier: Apache-2.0
#include "kube/device_ref.h"

#include "tests/unit/unit.h"

static const struct zone zones[] = {
	{ .kind = ZONE_PACKAGE, .instance = "0", .path = "intel-rapl:0" },
	{ .kind = ZONE_GPU,
	  .domain = { DOMAIN_DEVICE, 0 },
	  .instance = "GPU-aa",
	  .path = "nvidia0" },
	{ .kind = ZONE_GPU,
	  .domain = { DOMAIN_DEVICE, 1 },
	  .instance = "GPU-bb",
	  .path = "nvidia1" },
	{ .kind = ZONE_GPU,
	  .domain = { DOMAIN_DEVICE, 96 },
	  .instance = "0000:03:00.0",
	  .path = "card0/power1_average" },
	{ .kind = ZONE_GPU,
	  .domain = { DOMAIN_DEVICE, 97 },
	  .instance = "0000:0a:00.0",
	  .path = "card10/energy1_input" },
};

static uint32_t find(const char *resource, const char *id, const char *cdi,
		     const struct zone *const *some, size_t count)
{
	struct listed_device device;
	struct device_ref ref;

	(void)snprintf(device.resource, sizeof(device.resource), "%s", resource);
	(void)snprintf(device.id, sizeof(device.id), "%s", id);
	(void)snprintf(device.cdi, sizeof(device.cdi), "%s", cdi);
	ref = device_ref_of(&device);
	if (ref.kind == DEVICE_NO_GPU)
		return UINT32_MAX - 1;
	return device_ref_find(&ref, some, count);
}

static void a_part_is_known_by_its_uuid(void **state)
{
	struct listed_device replica = { .resource = "nvidia.com/mig-1g.5gb", .id = "MIG-aa::2" };
	struct listed_device claim = { .resource = "gpu.nvidia.com",
				       .id = "gpu-0-mig-9-0-1",
				       .cdi = "k8s.gpu.nvidia.com/claim=MIG-bb" };
	struct device_ref ref = device_ref_of(&replica);

	assert_int_equal(ref.kind, DEVICE_PART);
	assert_string_equal(ref.text, "MIG-aa");
	ref = device_ref_of(&claim);
	assert_int_equal(ref.kind, DEVICE_PART);
	assert_string_equal(ref.text, "MIG-bb");
}

static void each_vendor_has_its_names(void **state)
{
	enum { NONE = DEVICE_REF_NONE, NO_GPU = UINT32_MAX - 1 };
	static const struct {
		const char *resource, *id, *cdi;
		uint32_t device;
	} cases[] = {
		{ "nvidia.com/gpu", "GPU-bb", "", 1 },
		{ "nvidia.com/gpu", "GPU-bb::13", "", 1 },
		{ "nvidia.com/gpu.shared", "GPU-aa::0", "", 0 },
		{ "example.com/renamed", "GPU-aa", "", 0 },
		{ "nvidia.com/gpu", "GPU-cc", "", NONE },
		{ "nvidia.com/gpu", "GPU-b", "", NONE },
		{ "nvidia.com/gpu", "GPU-123456789012345678901234567890123456789012345678", "",
		  NONE },
		{ "nvidia.com/mig-1g.5gb", "MIG-aa", "", NONE },
		{ "nvidia.com/gpu", "MIG-GPU-aa/1/0", "", NONE },
		{ "nvidia.com/gpu", "nvidia1", "", 1 },
		{ "nvidia.com/gpu", "nvidia1/vgpu3", "", 1 },
		{ "nvidia.com/gpu", "nvidia11", "", NONE },
		{ "nvidia.com/gpu", "nvidia1/gi0", "", NONE },
		{ "nvidia.com/gpu", "nvidia1/gi0/vgpu1", "", NONE },
		{ "nvidia.com/gpu", "nvidia", "", NONE },
		{ "nvidia.com/gpu", "0", "", NONE },
		{ "amd.com/gpu", "0000:03:00.0", "", 96 },
		{ "amd.com/gpu", "0000:0A:00.0", "", 97 },
		{ "amd.com/gpu", "0000:03:00.1", "", NONE },
		{ "amd.com/gpu", "amdgpu_xcp_30", "", NONE },
		{ "gpu.intel.com/i915", "card0-1", "", 96 },
		{ "gpu.intel.com/xe", "card10-0", "", 97 },
		{ "gpu.intel.com/xe", "card1-0", "", NONE },
		{ "gpu.intel.com/xe", "card0", "", NONE },
		{ "gpu.intel.com", "0000-03-00-0-0x56c0", "", 96 },
		{ "gpu.intel.com", "0000-03-00-1-0x56c0", "", NONE },
		{ "gpu.nvidia.com", "gpu-1", "k8s.gpu.nvidia.com/device=gpu-1", 1 },
		{ "gpu.nvidia.com", "gpu-1", "k8s.gpu.nvidia.com/device=GPU-aa", 0 },
		{ "gpu.nvidia.com", "gpu-7", "", NONE },
		{ "gpu.nvidia.com", "gpu-0-mig-9-0-1", "", NONE },
		{ "gpu.nvidia.com", "gpu-", "", NONE },
		{ "gpu.nvidia.com", "gpu-00000000000000000000001", "", NONE },
		{ "gpu.amd.com", "gpu-0-128", "", NONE },
		{ "compute-domain.nvidia.com", "channel-0", "", NO_GPU },
		{ "vendor.example/nic", "0000:03:00.0", "", NO_GPU },
		{ "vendor.example/nic", "card0-1", "", NO_GPU },
		{ "hugepages-2Mi", "0", "", NO_GPU },
	};
	const struct zone *all[ARRAY_SIZE(zones)];

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++)
		all[i] = &zones[i];
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t got =
			find(cases[i].resource, cases[i].id, cases[i].cdi, all, ARRAY_SIZE(all));

		if (got != cases[i].device)
			fail_msg("%s %s is %u", cases[i].resource, cases[i].id, got);
	}
}

/* Board 0 of NVML's list may be /dev/nvidia2: then a number says nothing. */
static void a_number_is_used_where_all_agree(void **state)
{
	struct zone other = zones[2];
	const struct zone *some[] = { &zones[1], &other, &zones[3] };

	assert_int_equal(find("gpu.nvidia.com", "gpu-0", "", some, 3), 0);
	(void)snprintf(other.path, sizeof(other.path), "nvidia3");
	assert_int_equal(find("gpu.nvidia.com", "gpu-0", "", some, 3), DEVICE_REF_NONE);
	assert_int_equal(find("nvidia.com/gpu", "nvidia3", "", some, 3), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_known_by_its_uuid),
		cmocka_unit_test(each_vendor_has_its_names),
		cmocka_unit_test(a_number_is_used_where_all_agree),
	};

	return unit_run(tests);
}
