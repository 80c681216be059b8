// SPDX-License-Identifier: Apache-2.0
/*
 * Elements count only at their full path, so that nothing in a machine's title, description or
 * metadata, which its owner writes, can pass for one of them.
 */
#include "workload/vm_libvirt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text/ascii.h"
#include "base/text/uuid.h"
#include "base/text/xml_scan.h"

_Static_assert(VM_UUID_MAX == UUID_TEXT_LEN + 1, "as parsed");

/* A <channel>: its source and its target come in either order. */
struct channel {
	bool is_bound;
	char path[VM_SOCKET_MAX], port[64];
};

struct reading {
	struct vm_libvirt vm;
	struct channel channel;
	const char *fault;
};

static bool is_at_device(const struct xml_scan *scan, const char *path)
{
	char full[64];

	(void)snprintf(full, sizeof(full), "domstatus/domain/devices/%s", path);
	return xml_scan_is_at(scan, full);
}

static uint32_t number_of(const struct xml_scan *scan, const char *attribute, uint32_t max)
{
	char text[16];
	uint64_t number;

	return xml_scan_attribute(scan, attribute, text, sizeof(text)) &&
			       parse_u64(text, strlen(text), &number) == 0 && number <= max
		       ? (uint32_t)number
		       : 0;
}

static bool has_value(const struct xml_scan *scan, const char *attribute, const char *value)
{
	char text[16];

	return xml_scan_attribute(scan, attribute, text, sizeof(text)) && strcmp(text, value) == 0;
}

static void take_source(const struct xml_scan *scan, struct channel *channel)
{
	channel->is_bound =
		has_value(scan, "mode", "bind") &&
		xml_scan_attribute(scan, "path", channel->path, sizeof(channel->path)) &&
		channel->path[0] == '/';
}

static void take_target(const struct xml_scan *scan, struct channel *channel)
{
	if (!has_value(scan, "type", "virtio") ||
	    !xml_scan_attribute(scan, "name", channel->port, sizeof(channel->port)))
		channel->port[0] = '\0';
}

static void take_channel(const struct channel *channel, struct vm_libvirt *vm)
{
	if (!channel->is_bound)
		return;
	if (strcmp(channel->port, VM_PORT_ENERGY) == 0)
		memcpy(vm->energy_socket, channel->path, sizeof(vm->energy_socket));
	else if (strcmp(channel->port, VM_PORT_VHOSTMD) == 0)
		memcpy(vm->vhostmd_socket, channel->path, sizeof(vm->vhostmd_socket));
}

/* Addresses below 3 belong to the host. */
static void take_cid(const struct xml_scan *scan, struct vm_libvirt *vm)
{
	uint32_t cid = number_of(scan, "address", UINT32_MAX - 1);

	if (cid >= 3)
		vm->vsock_cid = cid;
}

static void begin(const struct xml_scan *scan, struct reading *reading)
{
	if (xml_scan_is_at(scan, "domstatus"))
		reading->vm.pid = number_of(scan, "pid", INT32_MAX);
	else if (is_at_device(scan, "channel"))
		reading->channel = (struct channel){ 0 };
	else if (is_at_device(scan, "channel/source"))
		take_source(scan, &reading->channel);
	else if (is_at_device(scan, "channel/target"))
		take_target(scan, &reading->channel);
	else if (is_at_device(scan, "vsock/cid"))
		take_cid(scan, &reading->vm);
}

static void take_uuid(const struct xml_scan *scan, struct reading *reading)
{
	struct vm_libvirt *vm = &reading->vm;
	struct uuid uuid;

	if (vm->uuid[0] || !xml_scan_text(scan, vm->uuid, sizeof(vm->uuid)) ||
	    !uuid_parse(vm->uuid, strlen(vm->uuid), &uuid))
		reading->fault = "the UUID is not valid";
	for (char *c = vm->uuid; *c; c++)
		*c = ascii_lower(*c);
}

int vm_libvirt_parse(const char *text, size_t len, struct vm_libvirt *ret, struct diag *diag)
{
	struct xml_scan scan = { .at = text, .end = text + len };
	struct reading reading = { .fault = NULL };
	int event = XML_BEGIN;

	while (!reading.fault && event != XML_DONE) {
		event = xml_scan_next(&scan);
		if (event < 0)
			reading.fault = "this is not well-formed XML, or not libvirt's";
		else if (event == XML_BEGIN)
			begin(&scan, &reading);
		else if (event == XML_TEXT && xml_scan_is_at(&scan, "domstatus/domain/uuid"))
			take_uuid(&scan, &reading);
		else if (event == XML_END && is_at_device(&scan, "channel"))
			take_channel(&reading.channel, &reading.vm);
	}
	if (!reading.fault && !reading.vm.pid)
		reading.fault = "no process runs this machine";
	if (!reading.fault && !reading.vm.uuid[0])
		reading.fault = "it has no UUID";
	if (reading.fault)
		return diag_set(diag, -EINVAL, "byte %zu: %s", (size_t)(scan.at - text),
				reading.fault);
	*ret = reading.vm;
	return 0;
}
