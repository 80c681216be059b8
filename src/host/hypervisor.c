// SPDX-License-Identifier: Apache-2.0
/*
 * Three kinds of clue. The CPU's own bit is the best where it exists: every common hypervisor sets
 * it, and a bare-metal instance in a cloud, where the firmware also has "Amazon EC2", does not. On
 * Arm, where it does not exist, a bit of the firmware has the same meaning. Names of machines that
 * exist only virtually (QEMU, VirtualBox) are sufficient. Names of vendors that offer both kinds
 * only identify the hypervisor, once another clue shows that there is one.
 */
#include "host/hypervisor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"

struct known_machine {
	const char *word; /* contained in the DMI vendor or product */
	const char *name;
	bool only_virtual;
};

static const struct known_machine known_machines[] = {
	{ "VirtualBox", "virtualbox", true },
	{ "innotek GmbH", "virtualbox", true },
	{ "VMware", "vmware", true },
	{ "KubeVirt", "kvm", true },
	{ "oVirt", "kvm", true },
	{ "OpenStack", "kvm", true },
	{ "Bochs", "bochs", true },
	{ "BHYVE", "bhyve", true },
	{ "Parallels", "parallels", true },
	{ "HVM domU", "xen", true },
	{ "Google Compute Engine", "google", false },
	{ "Amazon EC2", "amazon", false },
	{ "Alibaba Cloud", "alibaba", false },
	{ "Virtual Machine", "microsoft", true },
	{ "KVM", "kvm", true },
	{ "QEMU", "qemu", true },
	{ "Xen", "xen", true },
	{ "Apple Virtualization", "apple", true },
	{ "vServer", "kvm", true }, /* Hetzner's */
};

static const struct known_machine *known_machine(const struct hypervisor_clues *clues)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_machines); i++) {
		if (strstr(clues->sys_vendor, known_machines[i].word) ||
		    strstr(clues->product, known_machines[i].word))
			return &known_machines[i];
	}
	return NULL;
}

/* The arm64 instances of a cloud have no flag; bare-metal ones have "metal" in the product name. */
static bool is_virtual(const struct hypervisor_clues *clues, const struct known_machine *machine)
{
	if (clues->xen_dom0)
		return false;
	if (clues->cpu_flag || clues->firmware_flag || clues->xen_type[0] ||
	    clues->device_tree[0] || strcmp(clues->acpi_oem, "FIRECK") == 0)
		return true;
	if (!machine)
		return false;
	return machine->only_virtual ||
	       (!clues->cpu_flag_exists && !strstr(clues->product, "metal"));
}

const char *hypervisor_name(const struct hypervisor_clues *clues)
{
	const struct known_machine *machine = known_machine(clues);

	if (!is_virtual(clues, machine))
		return NULL;
	if (strcmp(clues->acpi_oem, "FIRECK") == 0)
		return "firecracker";
	if (machine)
		return machine->name;
	if (strstr(clues->xen_type, "xen") || strstr(clues->device_tree, "xen"))
		return "xen";
	if (strstr(clues->device_tree, "kvm"))
		return "kvm";
	return "unknown";
}

bool hypervisor_makes_registers(const struct hypervisor_clues *clues)
{
	return clues->sysfs_flag && !clues->xen_dom0;
}

/* The first line of DIR/NAME; "" when it cannot be read. */
static void read_line(const char *dir, const char *name, char *buf, size_t size)
{
	char path[4096], text[512];
	ssize_t len;

	buf[0] = '\0';
	if (path_join(path, sizeof(path), dir, name) < 0)
		return;
	len = read_file_nowait_at(AT_FDCWD, path, text, sizeof(text));
	if (len > 0)
		(void)snprintf(buf, size, "%.*s", (int)strcspn(text, "\n"), text);
}

/*
 * "cpu:type:x86,ven0000fam0006mod008F:feature:,0000,…,009F\n": the numbers of the CPU's features,
 * in hexadecimal, in Linux since 3.4 (drivers/base/cpu.c). X86_FEATURE_HYPERVISOR is bit 31 of
 * word 4 (arch/x86/include/asm/cpufeatures.h).
 */
static bool read_sysfs_flag(const char *sysfs)
{
	char path[4096], text[4096];

	return path_join(path, sizeof(path), sysfs, "devices/system/cpu/modalias") == 0 &&
	       read_file_nowait_at(AT_FDCWD, path, text, sizeof(text)) > 0 &&
	       strncmp(text, "cpu:type:x86,", strlen("cpu:type:x86,")) == 0 &&
	       strstr(text, ",009F") != NULL;
}

/* The OEM id is at offset 10 of an ACPI table's header (ACPI specification, 5.2.6). */
static void read_acpi_oem(const char *sysfs, char *buf, size_t size)
{
	char path[4096], header[16];
	CLEANUP_FD int fd = -1;

	buf[0] = '\0';
	if (path_join(path, sizeof(path), sysfs, "firmware/acpi/tables/DSDT") < 0)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return;
	(void)snprintf(buf, size, "%.6s", header + 10);
}

/*
 * DMTF DSP0134 (System Management BIOS), 7.1: in structure type 0, BIOS information, bit 4 of the
 * second BIOS characteristics extension byte, at offset 0x13, says that the table describes a
 * virtual machine. Only root can read the file; if it cannot be read, there is no clue.
 */
static bool read_firmware_flag(const char *sysfs)
{
	unsigned char bios[0x14];
	char path[4096];
	CLEANUP_FD int fd = -1;

	if (path_join(path, sizeof(path), sysfs, "firmware/dmi/entries/0-0/raw") < 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 && pread(fd, bios, sizeof(bios), 0) == (ssize_t)sizeof(bios) &&
	       bios[0] == 0 && bios[1] >= sizeof(bios) && (bios[0x13] & 1U << 4);
}

void hypervisor_clues_read(const char *procfs, const char *sysfs, struct hypervisor_clues *ret)
{
	char xen[64];

	memset(ret, 0, sizeof(*ret));
	read_line(sysfs, "class/dmi/id/sys_vendor", ret->sys_vendor, sizeof(ret->sys_vendor));
	read_line(sysfs, "class/dmi/id/product_name", ret->product, sizeof(ret->product));
	read_line(sysfs, "hypervisor/type", ret->xen_type, sizeof(ret->xen_type));
	read_line(sysfs, "firmware/devicetree/base/hypervisor/compatible", ret->device_tree,
		  sizeof(ret->device_tree));
	read_acpi_oem(sysfs, ret->acpi_oem, sizeof(ret->acpi_oem));
	ret->firmware_flag = read_firmware_flag(sysfs);
	ret->sysfs_flag = read_sysfs_flag(sysfs);
	read_line(procfs, "xen/capabilities", xen, sizeof(xen));
	ret->xen_dom0 = strstr(xen, "control_d") != NULL;
}
