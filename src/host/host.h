/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about this machine, read once at the start, from the given roots; unknown facts are 0,
 * false or "".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct host_info {
	char node_name[64];  /* KEPLER_NODE_NAME/NODE_NAME environment, else host name */
	char kernel[64];     /* uname -r */
	char machine[16];    /* uname -m */
	char cpu_vendor[32]; /* "GenuineIntel" */
	unsigned cpu_family, cpu_model_number; /* cpuinfo.h */
	char cpu_model[64];                    /* "AMD EPYC 7763 64-Core Processor" */
	char cpu_architecture
		[64];      /* microarchitecture in words: "Zen 3", "Sapphire Rapids"; "unknown" */
	unsigned cpu_year; /* year class of that family, 0 unknown */
	unsigned cpus;     /* online logical CPUs */
	unsigned cores, sockets;
	double frequency_ghz;
	double memory_gib;
	bool is_vm;
	bool registers_are_virtual; /* hypervisor_makes_registers() */
	char confidential[24];      /* confidential_kind() */
	char hypervisor[32]; /* "kvm", "firecracker", "vmware", … or "unknown" when is_vm */
	char dmi_vendor[64], dmi_product[64]; /* of the firmware: "Amazon EC2", "m5.large" */
	/* Facts about a virtual machine's host, by config/vm_hints.h; 0 unknown. */
	unsigned vm_host_cpus;  /* logical */
	unsigned vm_host_cores; /* physical */
	unsigned vm_host_sockets;
	double vm_load_low, vm_load_high; /* of the neighbours' CPUs, 0..1 */
	bool vm_cpus_by_type; /* its CPUs follow from the instance type, and not from an option */
	bool vm_cpu_by_type;  /* so was cpu_model, because the name was hidden */
};

/* @procfs and @sysfs are the configured roots. 0, or -errno when not even PROCFS can be read. */
int host_info_read(const char *procfs, const char *sysfs, struct host_info *ret);
/*
 * The logical CPUs that are online (cpuinfo.h), by PROCFS/cpuinfo; *ret is given, release with
 * free(). 0, or -errno when it cannot be read.
 */
struct cpuinfo_cpu;
int host_cpus_read(const char *procfs, struct cpuinfo_cpu **ret, size_t *ret_count);
/*
 * Microarchitecture and year class of an x86 family/model or arm implementer/part; pure. A newer
 * one than all known has the name "unknown" and the newest year. false when unknown.
 */
bool host_microarchitecture(const char *vendor, unsigned family, unsigned model, unsigned stepping,
			    const char **ret_name, unsigned *ret_year);
