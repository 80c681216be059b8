/* SPDX-License-Identifier: Apache-2.0 */
/* Is this machine virtual, and on which hypervisor? */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Clues from the firmware and the kernel, the input of hypervisor_name(). A missing clue is an
 * empty string.
 */
struct hypervisor_clues {
	bool cpu_flag;        /* CPUID's hypervisor bit, x86 */
	bool cpu_flag_exists; /* the architecture has such a flag: its absence means something */
	bool sysfs_flag; /* CPUID's hypervisor bit, as SYSFS/devices/system/cpu/modalias has it */
	bool xen_dom0;   /* the machine's owner under Xen */
	bool firmware_flag;   /* SMBIOS says that the machine is virtual */
	char sys_vendor[64];  /* DMI */
	char product[64];     /* DMI */
	char xen_type[16];    /* SYSFS/hypervisor/type */
	char acpi_oem[8];     /* OEM id of the ACPI tables */
	char device_tree[32]; /* compatible of /hypervisor, arm64 */
};

void hypervisor_clues_read(const char *procfs, const char *sysfs, struct hypervisor_clues *ret);
/* NULL: a physical machine. "unknown": virtual, on an unknown hypervisor. Pure. */
const char *hypervisor_name(const struct hypervisor_clues *clues);
/*
 * True if a hypervisor makes what the machine's registers read, such as those of RAPL. By SYSFS
 * alone, so that a tree of sensors has its own answer; false where it does not say. Pure.
 */
bool hypervisor_makes_registers(const struct hypervisor_clues *clues);
