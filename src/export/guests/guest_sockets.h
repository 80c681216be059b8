/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unix sockets of guests in the directory --passthrough.sockets:
 *
 *   UUID.sock         virtio-serial. QEMU listens there, and this program connects, or, with
 *                     reconnect=, QEMU connects to this program. Whichever is there first listens;
 *                     QEMU replaces a socket of this program's, which then connects.
 *   UUID.vhostmd      the port org.github.vhostmd.1 (guest_dialogue.h): QEMU listens there.
 *   ID.vsock_PORT     guests of Firecracker and Cloud Hypervisor, whose device has the socket
 *                     ID.vsock: a guest's connection to the host's port PORT arrives here.
 *
 * With --passthrough.libvirt, this program connects to the ports of machines wherever libvirt has
 * put them, too.
 *
 * The path is the identity, and the peer has to be the guest's hypervisor; where this program
 * connects, root and the users of managers of machines may have bound the socket for it, too.
 */
#pragma once

#include <stdint.h>

#include "export/guests/guest_stream.h"
#include "export/guests/guest_table.h"

/* A listener's socket is bound to a path that has this at its end, and then renamed. */
#define GUEST_SOCKET_NEW ".new"

struct guest_sockets {
	const char *folder; /* borrowed; "": the channel is not used */
	uint32_t port;      /* of vsock; 0: only UUID.sock */
	int epoll_fd;       /* borrowed */
	const struct vm_users *users;
	struct guest_counts counts;
	struct guest_errors told;
};

/* Once in each interval, for each guest: connects or listens, from time to time. */
void guest_sockets_tend(struct guest_sockets *sockets, struct guest *guest, uint64_t now_ns);
/* A connection arrives at @watch, which is of kind GUEST_WATCH_DOOR. */
void guest_sockets_accept(struct guest_sockets *sockets, struct guest_watch *watch);
/* Closes the guest's listeners, and removes their files. Takes one without any. */
void guest_sockets_end(struct guest *guest);
