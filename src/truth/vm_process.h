/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine as a process of its host: QEMU, Cloud Hypervisor or Firecracker, found by the
 * name of the program, with the UUID and the name of its command line ("-uuid", "-name", "--id").
 */
#pragma once

#include <sys/types.h>

#include "base/diag.h"

struct vm_process {
	pid_t pid;                /* 0: none */
	char uuid[64], name[128]; /* "": it has none */
};

/*
 * @wanted is a UUID, a name, a pid, or "auto" for the only one. 0; -ENOENT, or -EEXIST where it
 * could be several, with a diagnosis.
 */
int vm_process_find(const char *procfs, const char *wanted, struct vm_process *ret,
		    struct diag *diag);
/* The CPU time of all of its threads, in s; negative: it has ended. */
double vm_process_cpu_s(const char *procfs, const struct vm_process *vm);
