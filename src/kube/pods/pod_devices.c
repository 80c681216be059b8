// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_devices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void pod_devices_clear(struct pod_devices *devices)
{
	devices->container_count = devices->device_count = 0;
	devices->unknown = devices->beyond = 0;
	devices->number = devices->nameless = 0;
}

void pod_devices_release(struct pod_devices *devices)
{
	free(devices->containers);
	free(devices->devices);
	*devices = (struct pod_devices){ 0 };
}

/* The entry of the container, which is the last one if it has any; 0 or -ENOMEM. */
static int enter_container(struct pod_devices *devices, struct directory *directory,
			   const struct listed_container *container)
{
	const struct directory_name name = { container->namespace_, container->pod,
					     container->container };
	struct pod_container *entry;

	if (devices->number == container->number)
		return 0;
	if (devices->container_count == POD_CONTAINERS_MAX ||
	    ARRAY_RESERVE(devices->containers, devices->container_size,
			  devices->container_count + 1) < 0)
		return -ENOMEM;
	entry = &devices->containers[devices->container_count++];
	entry->id_count = directory_find_named(directory, &name, entry->ids, POD_CONTAINER_IDS_MAX);
	devices->nameless += entry->id_count == 0;
	devices->number = container->number;
	return 0;
}

/* Entries of one container are one after the other, at the end. */
static struct pod_device *find_device(const struct pod_devices *devices,
				      const struct device_ref *ref, uint32_t container)
{
	for (size_t i = devices->device_count; i > 0; i--) {
		struct pod_device *device = &devices->devices[i - 1];

		if (device->container != container)
			return NULL;
		if (device_ref_is_same(&device->ref, ref))
			return device;
	}
	return NULL;
}

static int add_id(struct pod_devices *devices, struct directory *directory,
		  const struct listed_container *container, const struct device_ref *ref)
{
	int r = enter_container(devices, directory, container);
	uint32_t index = (uint32_t)devices->container_count - 1;
	struct pod_device *device = r == 0 ? find_device(devices, ref, index) : NULL;

	if (device) {
		device->ids++;
		return 0;
	}
	if (r < 0 || devices->device_count == POD_DEVICES_MAX ||
	    ARRAY_RESERVE(devices->devices, devices->device_size, devices->device_count + 1) < 0)
		return -ENOMEM;
	devices->devices[devices->device_count++] =
		(struct pod_device){ .ref = *ref, .container = index, .ids = 1 };
	return 0;
}

void pod_devices_add(struct pod_devices *devices, struct directory *directory,
		     const struct listed_device *device)
{
	const struct device_ref ref = device_ref_of(device);

	if (ref.kind == DEVICE_NO_GPU)
		return;
	if (ref.kind == DEVICE_UNKNOWN)
		devices->unknown++;
	else if (add_id(devices, directory, device->container, &ref) < 0)
		devices->beyond++;
}
