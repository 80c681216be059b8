// SPDX-License-Identifier: Apache-2.0
/*
 * Names come before their subjects or after them: so each message is read twice, first for its
 * names. A malformed part costs the message that it is in, but not the messages around it.
 */
#include "kube/pods/pod_resources_list.h"

#include <errno.h>
#include <stdbool.h>

#include "base/protobuf_read.h"

enum {
	LIST_PODS = 1,
	POD_NAME = 1,
	POD_NAMESPACE = 2,
	POD_CONTAINERS = 3,
	CONTAINER_NAME = 1,
	CONTAINER_DEVICES = 2,
	CONTAINER_CLAIMS = 5,
	DEVICES_RESOURCE = 1,
	DEVICES_IDS = 2,
	CLAIM_RESOURCES = 4,
	RESOURCE_CDI = 1,
	RESOURCE_DRIVER = 2,
	RESOURCE_DEVICE = 4,
	CDI_NAME = 1,
};

struct reading {
	listed_device_fn *take;
	void *userdata;
	struct listed_container container;
	struct listed_device device;
	size_t devices;
	int64_t bad;
};

/* The next field with a message or a text of that number; false at the end, also a bad one. */
static bool next_of(struct reading *reading, struct protobuf *message, uint32_t number,
		    struct protobuf *ret)
{
	struct protobuf_field field;
	int r;

	while ((r = protobuf_next(message, &field)) > 0) {
		if (field.number != number || field.type != PROTOBUF_BYTES)
			continue;
		*ret = field.bytes;
		return true;
	}
	reading->bad += r < 0;
	return false;
}

static void hand_over(struct reading *reading)
{
	if (!reading->device.id[0] || reading->devices == LISTED_DEVICES_MAX) {
		reading->bad++;
		return;
	}
	reading->devices++;
	reading->take(reading->userdata, &reading->device);
}

static void read_devices(struct reading *reading, struct protobuf devices)
{
	struct listed_device *device = &reading->device;
	struct protobuf id;

	device->cdi[0] = '\0';
	if (protobuf_text(devices, DEVICES_RESOURCE, device->resource, sizeof(device->resource)) <
	    0) {
		reading->bad++;
		return;
	}
	while (next_of(reading, &devices, DEVICES_IDS, &id)) {
		if (protobuf_copy_text(&id, device->id, sizeof(device->id)) < 0)
			reading->bad++;
		else
			hand_over(reading);
	}
}

static void read_claim_resource(struct reading *reading, struct protobuf resource)
{
	struct listed_device *device = &reading->device;
	struct protobuf rest = resource, cdi = { .len = 0 };

	if (protobuf_text(resource, RESOURCE_DRIVER, device->resource, sizeof(device->resource)) <
		    0 ||
	    protobuf_text(resource, RESOURCE_DEVICE, device->id, sizeof(device->id)) < 0) {
		reading->bad++;
		return;
	}
	device->cdi[0] = '\0';
	if (next_of(reading, &rest, RESOURCE_CDI, &cdi) &&
	    protobuf_text(cdi, CDI_NAME, device->cdi, sizeof(device->cdi)) < 0)
		device->cdi[0] = '\0'; /* it can be found by its name all the same */
	hand_over(reading);
}

static void read_container(struct reading *reading, struct protobuf container)
{
	struct listed_container *names = &reading->container;
	struct protobuf rest = container, part, resource;

	if (protobuf_text(container, CONTAINER_NAME, names->container, sizeof(names->container)) <
		    0 ||
	    !names->container[0]) {
		reading->bad++;
		return;
	}
	names->number++;
	while (next_of(reading, &rest, CONTAINER_DEVICES, &part))
		read_devices(reading, part);
	rest = container;
	while (next_of(reading, &rest, CONTAINER_CLAIMS, &part)) {
		while (next_of(reading, &part, CLAIM_RESOURCES, &resource))
			read_claim_resource(reading, resource);
	}
}

static void read_pod(struct reading *reading, struct protobuf pod)
{
	struct listed_container *names = &reading->container;
	struct protobuf container;

	if (protobuf_text(pod, POD_NAME, names->pod, sizeof(names->pod)) < 0 ||
	    protobuf_text(pod, POD_NAMESPACE, names->namespace_, sizeof(names->namespace_)) < 0 ||
	    !names->pod[0] || !names->namespace_[0]) {
		reading->bad++;
		return;
	}
	while (next_of(reading, &pod, POD_CONTAINERS, &container))
		read_container(reading, container);
}

int64_t pod_resources_list(const void *bytes, size_t len, listed_device_fn *take, void *userdata)
{
	struct reading reading = { .take = take, .userdata = userdata };
	struct protobuf list = { bytes, len };
	struct protobuf_field field;
	int r;

	reading.device.container = &reading.container;
	while ((r = protobuf_next(&list, &field)) > 0) {
		if (field.number == LIST_PODS && field.type == PROTOBUF_BYTES)
			read_pod(&reading, field.bytes);
	}
	return r < 0 ? r : reading.bad;
}
