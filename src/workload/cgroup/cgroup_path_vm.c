// SPDX-License-Identifier: Apache-2.0
/*
 * libvirt: machine.slice/machine-qemu\x2d6\x2dweb.scope with systemd (the number is the domain's
 * id of this run; "\x2d" is literal text, systemd's escape for a dash),
 * /machine/qemu-6-web.libvirt-qemu without, /machine/web.libvirt-qemu and /libvirt/qemu/web long
 * ago. Its cgroups per thread (emulator, vcpu0) lie below. Proxmox: qemu.slice/101.scope.
 */
#include "workload/cgroup/cgroup_path_vm.h"

#include <string.h>

#include "base/macro.h"

/* libvirt's drivers, as it writes them. */
static const struct {
	const char *driver, *hypervisor;
} drivers[] = {
	{ "qemu-", "qemu" },
	{ "ch-", "cloud-hypervisor" },
};

static bool take_name(struct part name, const char *hypervisor, struct cgroup_vm *ret)
{
	ret->hypervisor = hypervisor;
	return part_unescape(name, ret->name, sizeof(ret->name)) > 0;
}

/* "6-web" → "web" */
static struct part without_number(struct part name)
{
	struct part number, rest;

	return part_split(name, '-', &number, &rest) && part_is_decimal(number) && rest.len ? rest
											    : name;
}

static bool by_scope(struct part scope, struct cgroup_vm *ret)
{
	char text[VM_NAME_MAX + 32];
	struct part whole = { text, part_unescape(scope, text, sizeof(text)) }, name;

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (part_between(whole, drivers[i].driver, "", &name))
			return take_name(without_number(name), drivers[i].hypervisor, ret);
	return false;
}

static bool by_directory(struct part part, struct cgroup_vm *ret)
{
	struct part name;

	if (!part_between(part, "", ".libvirt-qemu", &name))
		return false;
	(void)part_between(name, "qemu-", "", &name);
	return take_name(without_number(name), "qemu", ret);
}

bool cgroup_vm_find(struct part part, struct part parent, struct part grandparent,
		    struct cgroup_vm *ret)
{
	struct part name;

	if (part_is(parent, "machine.slice"))
		return (part_between(part, "machine-", ".scope", &name) && by_scope(name, ret)) ||
		       by_directory(part, ret);
	if (part_is(parent, "machine"))
		return by_directory(part, ret);
	if (part_is(parent, "qemu.slice"))
		return part_between(part, "", ".scope", &name) && take_name(name, "qemu", ret);
	if (part_is(parent, "qemu") && part_is(grandparent, "libvirt"))
		return take_name(part, "qemu", ret);
	return part_is(parent, "firecracker") && take_name(part, "firecracker", ret);
}
