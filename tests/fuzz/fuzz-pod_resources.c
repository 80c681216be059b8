// SPDX-License-Identifier: Apache-2.0
/*
 * Data from the kubelet's PodResources socket: the body of an answer in pieces, and its message.
 * Names and ids are printable and not empty, and a device that is found has a valid zone.
 */
#include <stdint.h>
#include <string.h>

#include "base/macro.h"
#include "kube/device_ref.h"
#include "kube/pods/pod_resources_list.h"
#include "net/grpc_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MESSAGE_MAX 4096

static void must_be_plain(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text > '~')
			abort();
	}
}

static void take(void *userdata, const struct listed_device *device)
{
	static const struct zone board = { .kind = ZONE_GPU,
					   .domain = { DOMAIN_DEVICE, 3 },
					   .instance = "GPU-1",
					   .path = "nvidia3" };
	const struct zone *zones[] = { &board };
	const struct device_ref ref = device_ref_of(device);
	uint32_t found = device_ref_find(&ref, zones, ARRAY_SIZE(zones));

	if (!device->container->container[0] || !device->container->pod[0] ||
	    !device->container->namespace_[0] || !device->id[0])
		abort();
	must_be_plain(device->container->container);
	must_be_plain(device->resource);
	must_be_plain(device->id);
	must_be_plain(device->cdi);
	must_be_plain(ref.text);
	if (found != 3 && found != DEVICE_REF_NONE)
		abort();
	++*(size_t *)userdata;
}

static void try_list(const void *bytes, size_t len)
{
	size_t devices = 0;
	int64_t bad = pod_resources_list(bytes, len, take, &devices);

	/* Each takes two bytes of the message at least. */
	if (devices > LISTED_DEVICES_MAX || devices * 2 > len || bad > (int64_t)len)
		abort();
}

/* The first byte is the length of a piece. */
static void try_answer(const uint8_t *data, size_t size)
{
	size_t piece = size ? 1U + data[0] : 1;
	struct grpc_answer answer;
	int r = 0;

	grpc_answer_init(&answer, MESSAGE_MAX);
	grpc_answer_header(&answer, "grpc-status", strlen("grpc-status"), "0", 1);
	for (size_t at = 1; r == 0 && at < size; at += piece)
		r = grpc_answer_feed(&answer, (const char *)data + at,
				     piece < size - at ? piece : size - at);
	if (answer.message.len > MESSAGE_MAX)
		abort();
	if (r == 0 && grpc_answer_end(&answer, 200, NULL) == 0)
		try_list(answer.message.data, answer.message.len);
	grpc_answer_release(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_list(data, size);
	try_answer(data, size);
	return 0;
}
