/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this host's machines that libvirt keeps in its directory, --passthrough.libvirt,
 * /run/libvirt/qemu. It completes what the command lines of processes show: the sockets of
 * virtio-serial ports, wherever libvirt has put them, and the vsock address as it is now, also of
 * devices that were added or removed since the start. It never decides which machine a process is:
 * that a file belongs to a process is believed only if both have the same UUID.
 *
 * A file is read again when it was replaced, which libvirt does at each change of the machine. One
 * thread uses this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "export/guests/guest_scan.h"
#include "workload/vm_libvirt.h"

/* A file of the directory. */
struct guest_domain {
	char *name; /* owned */
	ino_t inode;
	struct timespec changed;
	bool is_listed;       /* in this look */
	struct vm_libvirt vm; /* pid 0: not understood */
};

struct guest_libvirt {
	const char *folder; /* borrowed; "": libvirt is not asked */
	struct guest_domain *domains;
	size_t count, size;
	struct timespec changed; /* the directory, when it was read; 0: it has to be read */
	bool has_failed;         /* in this look: a file could not be read */
	int told;                /* the error that was logged last, -errno */
	uint64_t errors;         /* cumulative: the directory, or a file, could not be read */
	uint64_t known;          /* machines; other threads read both */
};

void guest_libvirt_release(struct guest_libvirt *libvirt);
/* Reads what has changed by @now (CLOCK_REALTIME): true if anything has. */
bool guest_libvirt_look(struct guest_libvirt *libvirt, const struct timespec *now);
/* Completes @processes; with no directory it leaves them as they are. */
void guest_libvirt_complete(const struct guest_libvirt *libvirt, struct guest_process *processes,
			    size_t count);
