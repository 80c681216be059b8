// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_devices.h"

#include "tests/unit/unit.h"

static void know(struct directory *directory, const char *pod, const char *id)
{
	const struct container_names names = {
		.names.text = { [LABEL_CONTAINER_ID] = id,
				[LABEL_CONTAINER_NAME] = "main",
				[LABEL_POD_NAME] = pod,
				[LABEL_NAMESPACE] = "prod" },
	};

	assert_int_equal(directory_put(directory, DIRECTORY_KUBERNETES, &names), 0);
}

static void add(struct pod_devices *devices, struct directory *directory,
		const struct listed_container *container, const char *id)
{
	struct listed_device device = { .container = container, .resource = "nvidia.com/gpu" };

	(void)snprintf(device.id, sizeof(device.id), "%s", id);
	pod_devices_add(devices, directory, &device);
}

/* Replicas of one board are one entry; a container that was started again has two ids. */
static void ids_of_one_device_are_one_entry(void **state)
{
	struct listed_container first = { 1, "prod", "train", "main" };
	struct listed_container second = { 2, "prod", "ghost", "main" };
	struct pod_devices devices = { 0 };
	struct directory *directory;

	assert_int_equal(directory_new(16, &directory), 0);
	know(directory, "train", "aaaa");
	know(directory, "train", "bbbb");
	know(directory, "other", "cccc");
	for (int twice = 0; twice < 2; twice++) {
		pod_devices_clear(&devices);
		add(&devices, directory, &first, "GPU-1::0");
		add(&devices, directory, &first, "GPU-2");
		add(&devices, directory, &first, "GPU-1::1");
		add(&devices, directory, &first, "MIG-1");
		add(&devices, directory, &first, "nvidia1/gi0"); /* an instance without a UUID */
		add(&devices, directory, &second, "GPU-1::2");
		assert_int_equal(devices.container_count, 2);
		assert_int_equal(devices.containers[0].id_count, 2);
		assert_int_equal(devices.containers[1].id_count, 0);
		assert_int_equal(devices.nameless, 1);
		assert_int_equal(devices.unknown, 1);
		assert_int_equal(devices.device_count, 4);
		assert_string_equal(devices.devices[0].ref.text, "GPU-1");
		assert_int_equal(devices.devices[0].ids, 2);
		assert_int_equal(devices.devices[1].ids, 1);
		assert_string_equal(devices.devices[2].ref.text, "MIG-1");
		assert_int_equal(devices.devices[3].container, 1);
	}
	pod_devices_release(&devices);
	directory_free(directory);
}

static void tables_have_limits(void **state)
{
	struct listed_container container = { 0, "prod", "train", "main" };
	struct pod_devices devices = { 0 };
	struct directory *directory;
	char id[32];

	assert_int_equal(directory_new(16, &directory), 0);
	for (size_t i = 0; i < POD_CONTAINERS_MAX + 3; i++) {
		container.number++;
		add(&devices, directory, &container, "GPU-1");
	}
	assert_int_equal(devices.container_count, POD_CONTAINERS_MAX);
	assert_int_equal(devices.device_count, POD_CONTAINERS_MAX);
	assert_int_equal(devices.beyond, 3);
	pod_devices_clear(&devices);
	container.number = 1;
	for (size_t i = 0; i < POD_DEVICES_MAX + 4; i++) {
		(void)snprintf(id, sizeof(id), "GPU-%zu", i);
		add(&devices, directory, &container, id);
	}
	assert_int_equal(devices.device_count, POD_DEVICES_MAX);
	assert_int_equal(devices.beyond, 4);
	pod_devices_release(&devices);
	directory_free(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_one_device_are_one_entry),
		cmocka_unit_test(tables_have_limits),
	};

	return unit_run(tests);
}
