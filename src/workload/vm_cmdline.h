/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual machine that a process runs, from its name and its command line. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_UUID_MAX 37
#define VM_TEXT_MAX 128

struct vm_description {
	const char *hypervisor; /* static: "qemu", "kvm" (QEMU with it), "firecracker", … */
	const char *family;     /* static: the same without regard to acceleration; for ids */
	char uuid[VM_UUID_MAX]; /* lower case; "" none */
	char name[VM_TEXT_MAX]; /* untrusted bytes, cut; "" none */
	uint32_t vsock_cid;     /* address of its vsock device in the kernel; 0: none */
};

/*
 * True if a process of that name (comm, at most 15 bytes) may be a virtual machine: its command
 * line is worth reading.
 */
bool vm_comm_is_candidate(const char *comm);
/* Returns true if an executable of that file name, without folders, is a hypervisor. */
bool vm_exe_is_hypervisor(const char *name);
/*
 * Reads the text of /proc/PID/cmdline: words, each ended by NUL; the last may be cut. false: it is
 * not a machine, for example a query for the hypervisor's version.
 */
bool vm_cmdline_parse(const char *comm, const char *text, size_t len, struct vm_description *ret);
/* The process that a kernel thread works for: "vhost-1234", "kvm-pit/1234". 0: none. */
uint32_t vm_comm_served_pid(const char *comm);
