// SPDX-License-Identifier: Apache-2.0
#include "kube/device_ref.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define PCI_ADDRESS_LEN 12 /* 0000:03:00.0 */

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whatever else a resource is called, these are GPUs. */
static bool is_of_gpus(const char *resource)
{
	static const char *const owners[] = { "nvidia.com/",    "amd.com/",    "gpu.intel.com/",
					      "gpu.nvidia.com", "gpu.amd.com", "gpu.intel.com" };

	for (size_t i = 0; i < ARRAY_SIZE(owners); i++) {
		if (has_prefix(resource, owners[i]))
			return true;
	}
	return false;
}

static struct device_ref ref_of_text(enum device_ref_kind kind, const char *text, size_t len)
{
	struct device_ref ref = { .kind = kind };

	if (len >= sizeof(ref.text))
		return (struct device_ref){ .kind = DEVICE_UNKNOWN };
	(void)snprintf(ref.text, sizeof(ref.text), "%.*s", (int)len, text);
	return ref;
}

/* "GPU-…" or "MIG-…", without the number of its replica. */
static struct device_ref ref_of_uuid(enum device_ref_kind kind, const char *uuid)
{
	const char *replica = strstr(uuid, "::");

	return ref_of_text(kind, uuid, replica ? (size_t)(replica - uuid) : strlen(uuid));
}

/* As 0000:03:00.0, with @colon and @dot in their places. */
static bool is_pci_address(const char *text, char colon, char dot)
{
	static const char form[] = "xxxx:xx:xx.x";

	for (size_t i = 0; i < PCI_ADDRESS_LEN; i++) {
		bool fits = form[i] == ':'   ? text[i] == colon
			    : form[i] == '.' ? text[i] == dot
					     : text[i] && strchr("0123456789abcdefABCDEF", text[i]);

		if (!fits)
			return false;
	}
	return true;
}

/* The kernel writes addresses in small letters. */
static struct device_ref ref_of_pci_address(const char *text)
{
	struct device_ref ref = ref_of_text(DEVICE_INSTANCE, text, PCI_ADDRESS_LEN);

	for (char *c = ref.text; *c; c++)
		*c = *c >= 'A' && *c <= 'F' ? (char)(*c - 'A' + 'a') : *c;
	ref.text[4] = ref.text[7] = ':';
	ref.text[10] = '.';
	return ref;
}

/* How long "nvidia0" is at the beginning of @text; 0: it does not begin with a node's name. */
static size_t node_length(const char *text, const char *prefix)
{
	size_t len = strlen(prefix), digits;

	if (!has_prefix(text, prefix))
		return 0;
	digits = strspn(text + len, "0123456789");
	return digits ? len + digits : 0;
}

/* GKE: all of a board, or a share of it in time. */
static struct device_ref ref_of_nvidia_node(const char *id)
{
	size_t len = node_length(id, "nvidia");

	if (id[len] && !has_prefix(id + len, "/vgpu"))
		return (struct device_ref){ .kind = DEVICE_UNKNOWN };
	return ref_of_text(DEVICE_NODE, id, len);
}

static struct device_ref ref_of_number(const char *digits)
{
	struct device_ref ref = { .kind = DEVICE_UNKNOWN };
	uint64_t number;

	if (strlen(digits) <= 4 && parse_u64(digits, strlen(digits), &number) == 0) {
		ref.kind = DEVICE_NUMBER;
		ref.number = (uint32_t)number;
	}
	return ref;
}

static struct device_ref ref_of_claim(const struct listed_device *device)
{
	const char *name = strchr(device->cdi, '=');

	if (strcmp(device->resource, "gpu.intel.com") == 0 && is_pci_address(device->id, '-', '-'))
		return ref_of_pci_address(device->id);
	if (strcmp(device->resource, "gpu.nvidia.com") != 0)
		return (struct device_ref){ .kind = DEVICE_UNKNOWN };
	if (name && has_prefix(name + 1, "GPU-"))
		return ref_of_uuid(DEVICE_INSTANCE, name + 1);
	if (name && has_prefix(name + 1, "MIG-"))
		return ref_of_uuid(DEVICE_PART, name + 1);
	if (has_prefix(device->id, "gpu-"))
		return ref_of_number(device->id + strlen("gpu-"));
	return (struct device_ref){ .kind = DEVICE_UNKNOWN };
}

struct device_ref device_ref_of(const struct listed_device *device)
{
	const char *id = device->id;
	size_t len;

	if (has_prefix(id, "GPU-"))
		return ref_of_uuid(DEVICE_INSTANCE, id);
	if (has_prefix(id, "MIG-"))
		return ref_of_uuid(DEVICE_PART, id);
	/* Network cards have such addresses, too: they are no zone's. */
	if (is_pci_address(id, ':', '.') && !id[PCI_ADDRESS_LEN] && is_of_gpus(device->resource))
		return ref_of_pci_address(id);
	if (!is_of_gpus(device->resource))
		return (struct device_ref){ .kind = DEVICE_NO_GPU };
	if (!strchr(device->resource, '/'))
		return ref_of_claim(device);
	if (node_length(id, "nvidia"))
		return ref_of_nvidia_node(id);
	len = node_length(id, "card");
	if (len && id[len] == '-')
		return ref_of_text(DEVICE_NODE, id, len);
	return (struct device_ref){ .kind = DEVICE_UNKNOWN };
}

bool device_ref_is_same(const struct device_ref *a, const struct device_ref *b)
{
	return a->kind == b->kind && a->number == b->number && strcmp(a->text, b->text) == 0;
}

static bool is_device(const struct zone *zone)
{
	return zone->domain.kind == DOMAIN_DEVICE;
}

/* The first word of the zone's path is the node's name. */
static bool has_node(const struct zone *zone, const char *node)
{
	size_t len = strlen(node);

	return strncmp(zone->path, node, len) == 0 && (!zone->path[len] || zone->path[len] == '/');
}

/* Returns true if the minor number of each of NVIDIA's boards is its place in NVML's list. */
static bool numbers_agree(const struct zone *const *zones, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char node[24];

		if (!is_device(zones[i]) || !has_prefix(zones[i]->instance, "GPU-"))
			continue;
		(void)snprintf(node, sizeof(node), "nvidia%u", zones[i]->domain.number);
		if (!has_node(zones[i], node))
			return false;
	}
	return true;
}

static bool is_meant(const struct device_ref *ref, const struct zone *zone)
{
	switch (ref->kind) {
	case DEVICE_INSTANCE:
		return strcmp(zone->instance, ref->text) == 0;
	case DEVICE_NODE:
		return has_node(zone, ref->text);
	case DEVICE_NUMBER:
		return has_prefix(zone->instance, "GPU-") && zone->domain.number == ref->number;
	case DEVICE_NO_GPU:
	case DEVICE_UNKNOWN:
	case DEVICE_PART:
		break;
	}
	return false;
}

uint32_t device_ref_find(const struct device_ref *ref, const struct zone *const *zones,
			 size_t count)
{
	if (ref->kind == DEVICE_NUMBER && !numbers_agree(zones, count))
		return DEVICE_REF_NONE;
	for (size_t i = 0; i < count; i++) {
		if (is_device(zones[i]) && is_meant(ref, zones[i]))
			return zones[i]->domain.number;
	}
	return DEVICE_REF_NONE;
}
