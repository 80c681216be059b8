/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of this machine that run virtual machines, with what connects them to their guests:
 * UUID and vsock address from the command line, user and group. Needs no privilege.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/uuid.h"
#include "workload/identity.h"
#include "workload/vm_libvirt.h"

#define GUEST_PROCESSES_MAX 4096

struct guest_process {
	uint32_t pid;
	uint64_t start_ns; /* BOOTTIME */
	uid_t uid;
	gid_t gid;
	char uuid[37];            /* lower case; "" none */
	uint32_t vsock_cid;       /* 0: none */
	bool is_known_to_libvirt; /* its address and sockets are those in libvirt's state */
	/* The container around it, as the label container_id has it; "": none. */
	char container[IDENTITY_NAME_MAX];
	/* guest_libvirt.h; "": none. */
	char energy_socket[VM_SOCKET_MAX], vhostmd_socket[VM_SOCKET_MAX];
};

/*
 * All of them, at most GUEST_PROCESSES_MAX, for the caller to free: the count, or -errno. Reads
 * command lines, which can wait for the process: not on the measuring thread.
 */
ssize_t guest_processes_scan(int proc_fd, struct guest_process **ret);
/* Does the process still run? */
bool guest_process_lives(int proc_fd, const struct guest_process *process);
